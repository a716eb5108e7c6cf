/* System calls that code under test must not make, and the filter that traps them.
 *
 * Used twice: by the launcher, from the first instruction of the test program on (constructors run before main), and by the
 * guard in the test program, which is stricter in the process of each test: no further process, no other program, no signal to
 * other processes. A trapped call is reported by name. Files are protected by Landlock or by read-only mounts, because a filter
 * cannot inspect file names. */
#ifndef TOUCHSTONE_FILTER_H
#define TOUCHSTONE_FILTER_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define TOUCHSTONE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define TOUCHSTONE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__i386__)
#define TOUCHSTONE_ARCH AUDIT_ARCH_I386
#elif defined(__riscv) && __riscv_xlen == 64
#define TOUCHSTONE_ARCH AUDIT_ARCH_RISCV64
#endif

struct touchstone_denied {
    int number;
    const char *name;
};

/* Forbidden from the first instruction on. */
static const struct touchstone_denied touchstone_never[] = {
#ifdef __NR_socket
    {__NR_socket, "socket"},
#endif
#ifdef __NR_bind
    {__NR_bind, "bind"},
#endif
#ifdef __NR_connect
    {__NR_connect, "connect"},
#endif
#ifdef __NR_listen
    {__NR_listen, "listen"},
#endif
#ifdef __NR_accept
    {__NR_accept, "accept"},
#endif
#ifdef __NR_accept4
    {__NR_accept4, "accept4"},
#endif
#ifdef __NR_io_uring_setup
    {__NR_io_uring_setup, "io_uring_setup"},
#endif
#ifdef __NR_ptrace
    {__NR_ptrace, "ptrace"},
#endif
#ifdef __NR_process_vm_readv
    {__NR_process_vm_readv, "process_vm_readv"},
#endif
#ifdef __NR_process_vm_writev
    {__NR_process_vm_writev, "process_vm_writev"},
#endif
#ifdef __NR_pidfd_getfd
    {__NR_pidfd_getfd, "pidfd_getfd"},
#endif
#ifdef __NR_kcmp
    {__NR_kcmp, "kcmp"},
#endif
#ifdef __NR_mount
    {__NR_mount, "mount"},
#endif
#ifdef __NR_umount2
    {__NR_umount2, "umount2"},
#endif
#ifdef __NR_pivot_root
    {__NR_pivot_root, "pivot_root"},
#endif
#ifdef __NR_chroot
    {__NR_chroot, "chroot"},
#endif
#ifdef __NR_setns
    {__NR_setns, "setns"},
#endif
#ifdef __NR_unshare
    {__NR_unshare, "unshare"},
#endif
#ifdef __NR_move_mount
    {__NR_move_mount, "move_mount"},
#endif
#ifdef __NR_open_tree
    {__NR_open_tree, "open_tree"},
#endif
#ifdef __NR_fsopen
    {__NR_fsopen, "fsopen"},
#endif
#ifdef __NR_fsmount
    {__NR_fsmount, "fsmount"},
#endif
#ifdef __NR_mount_setattr
    {__NR_mount_setattr, "mount_setattr"},
#endif
#ifdef __NR_chmod
    {__NR_chmod, "chmod"},
#endif
#ifdef __NR_fchmod
    {__NR_fchmod, "fchmod"},
#endif
#ifdef __NR_fchmodat
    {__NR_fchmodat, "fchmodat"},
#endif
#ifdef __NR_fchmodat2
    {__NR_fchmodat2, "fchmodat2"},
#endif
#ifdef __NR_chown
    {__NR_chown, "chown"},
#endif
#ifdef __NR_fchown
    {__NR_fchown, "fchown"},
#endif
#ifdef __NR_lchown
    {__NR_lchown, "lchown"},
#endif
#ifdef __NR_fchownat
    {__NR_fchownat, "fchownat"},
#endif
#ifdef __NR_utime
    {__NR_utime, "utime"},
#endif
#ifdef __NR_utimes
    {__NR_utimes, "utimes"},
#endif
#ifdef __NR_futimesat
    {__NR_futimesat, "futimesat"},
#endif
#ifdef __NR_utimensat
    {__NR_utimensat, "utimensat"},
#endif
#ifdef __NR_truncate
    {__NR_truncate, "truncate"},
#endif
#ifdef __NR_setxattr
    {__NR_setxattr, "setxattr"},
#endif
#ifdef __NR_lsetxattr
    {__NR_lsetxattr, "lsetxattr"},
#endif
#ifdef __NR_fsetxattr
    {__NR_fsetxattr, "fsetxattr"},
#endif
#ifdef __NR_removexattr
    {__NR_removexattr, "removexattr"},
#endif
#ifdef __NR_lremovexattr
    {__NR_lremovexattr, "lremovexattr"},
#endif
#ifdef __NR_fremovexattr
    {__NR_fremovexattr, "fremovexattr"},
#endif
#ifdef __NR_mknod
    {__NR_mknod, "mknod"},
#endif
#ifdef __NR_mknodat
    {__NR_mknodat, "mknodat"},
#endif
#ifdef __NR_reboot
    {__NR_reboot, "reboot"},
#endif
#ifdef __NR_kexec_load
    {__NR_kexec_load, "kexec_load"},
#endif
#ifdef __NR_kexec_file_load
    {__NR_kexec_file_load, "kexec_file_load"},
#endif
#ifdef __NR_init_module
    {__NR_init_module, "init_module"},
#endif
#ifdef __NR_finit_module
    {__NR_finit_module, "finit_module"},
#endif
#ifdef __NR_delete_module
    {__NR_delete_module, "delete_module"},
#endif
#ifdef __NR_swapon
    {__NR_swapon, "swapon"},
#endif
#ifdef __NR_swapoff
    {__NR_swapoff, "swapoff"},
#endif
#ifdef __NR_acct
    {__NR_acct, "acct"},
#endif
#ifdef __NR_quotactl
    {__NR_quotactl, "quotactl"},
#endif
#ifdef __NR_sethostname
    {__NR_sethostname, "sethostname"},
#endif
#ifdef __NR_setdomainname
    {__NR_setdomainname, "setdomainname"},
#endif
#ifdef __NR_settimeofday
    {__NR_settimeofday, "settimeofday"},
#endif
#ifdef __NR_clock_settime
    {__NR_clock_settime, "clock_settime"},
#endif
#ifdef __NR_clock_adjtime
    {__NR_clock_adjtime, "clock_adjtime"},
#endif
#ifdef __NR_adjtimex
    {__NR_adjtimex, "adjtimex"},
#endif
#ifdef __NR_iopl
    {__NR_iopl, "iopl"},
#endif
#ifdef __NR_ioperm
    {__NR_ioperm, "ioperm"},
#endif
#ifdef __NR_bpf
    {__NR_bpf, "bpf"},
#endif
#ifdef __NR_perf_event_open
    {__NR_perf_event_open, "perf_event_open"},
#endif
#ifdef __NR_userfaultfd
    {__NR_userfaultfd, "userfaultfd"},
#endif
#ifdef __NR_keyctl
    {__NR_keyctl, "keyctl"},
#endif
#ifdef __NR_add_key
    {__NR_add_key, "add_key"},
#endif
#ifdef __NR_request_key
    {__NR_request_key, "request_key"},
#endif
#ifdef __NR_syslog
    {__NR_syslog, "syslog"},
#endif
#ifdef __NR_fanotify_init
    {__NR_fanotify_init, "fanotify_init"},
#endif
#ifdef __NR_open_by_handle_at
    {__NR_open_by_handle_at, "open_by_handle_at"},
#endif
#ifdef __NR_vhangup
    {__NR_vhangup, "vhangup"},
#endif
#ifdef __NR_shmget
    {__NR_shmget, "shmget"},
#endif
#ifdef __NR_shmat
    {__NR_shmat, "shmat"},
#endif
#ifdef __NR_msgget
    {__NR_msgget, "msgget"},
#endif
#ifdef __NR_semget
    {__NR_semget, "semget"},
#endif
#ifdef __NR_mq_open
    {__NR_mq_open, "mq_open"},
#endif
#ifdef __NR_mq_unlink
    {__NR_mq_unlink, "mq_unlink"},
#endif
#ifdef __NR_setuid
    {__NR_setuid, "setuid"},
#endif
#ifdef __NR_setgid
    {__NR_setgid, "setgid"},
#endif
#ifdef __NR_setreuid
    {__NR_setreuid, "setreuid"},
#endif
#ifdef __NR_setregid
    {__NR_setregid, "setregid"},
#endif
#ifdef __NR_setresuid
    {__NR_setresuid, "setresuid"},
#endif
#ifdef __NR_setresgid
    {__NR_setresgid, "setresgid"},
#endif
#ifdef __NR_setgroups
    {__NR_setgroups, "setgroups"},
#endif
#ifdef __NR_capset
    {__NR_capset, "capset"},
#endif
#ifdef __NR_sched_setaffinity
    {__NR_sched_setaffinity, "sched_setaffinity"},
#endif
#ifdef __NR_sched_setscheduler
    {__NR_sched_setscheduler, "sched_setscheduler"},
#endif
#ifdef __NR_setpriority
    {__NR_setpriority, "setpriority"},
#endif
#ifdef __NR_ioprio_set
    {__NR_ioprio_set, "ioprio_set"},
#endif
};

/* Forbidden in the process of a test. */
static const struct touchstone_denied touchstone_not_in_tests[] = {
#ifdef __NR_fork
    {__NR_fork, "fork"},
#endif
#ifdef __NR_vfork
    {__NR_vfork, "vfork"},
#endif
#ifdef __NR_execve
    {__NR_execve, "execve"},
#endif
#ifdef __NR_execveat
    {__NR_execveat, "execveat"},
#endif
#ifdef __NR_setsid
    {__NR_setsid, "setsid"},
#endif
#ifdef __NR_setpgid
    {__NR_setpgid, "setpgid"},
#endif
#ifdef __NR_pidfd_open
    {__NR_pidfd_open, "pidfd_open"},
#endif
#ifdef __NR_pidfd_send_signal
    {__NR_pidfd_send_signal, "pidfd_send_signal"},
#endif
#ifdef __NR_rt_sigqueueinfo
    {__NR_rt_sigqueueinfo, "rt_sigqueueinfo"},
#endif
#ifdef __NR_rt_tgsigqueueinfo
    {__NR_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"},
#endif
};

#define TOUCHSTONE_LENGTH(array) (sizeof(array) / sizeof *(array))

/* The name of a system call that one of the filters traps. */
__attribute__((__unused__)) static const char *touchstone_denied_name(int number) {
    for (size_t i = 0; i < TOUCHSTONE_LENGTH(touchstone_never); i++)
        if (touchstone_never[i].number == number) return touchstone_never[i].name;
    for (size_t i = 0; i < TOUCHSTONE_LENGTH(touchstone_not_in_tests); i++)
        if (touchstone_not_in_tests[i].number == number) return touchstone_not_in_tests[i].name;
#ifdef __NR_kill
    if (number == __NR_kill) return "kill";
#endif
#ifdef __NR_prlimit64
    if (number == __NR_prlimit64) return "prlimit";
#endif
    if (number == __NR_tgkill) return "tgkill";
    if (number == __NR_tkill) return "tkill";
    if (number == __NR_clone) return "clone";
    return "a system call";
}

/* The purpose of a filter. */
enum touchstone_stage {
    TOUCHSTONE_PROGRAM, /* the whole test program, which must create processes for its tests */
    TOUCHSTONE_COUNTED, /* the same; the holder of the listener decides about each process */
    TOUCHSTONE_TEST     /* the process of one test */
};

/* Older headers lack these. */
#ifndef SECCOMP_RET_USER_NOTIF
#define SECCOMP_RET_USER_NOTIF 0x7fc00000u
#endif
#define TOUCHSTONE_NEW_LISTENER (1u << 3)

#define TOUCHSTONE_ARGUMENT(n) ((unsigned)offsetof(struct seccomp_data, args[n]))

/* Installs the filter for this process, also across exec; `self` is the process that a test may signal, 0 for any.
 * Returns a negative value on failure; for TOUCHSTONE_COUNTED the listener's descriptor. */
__attribute__((__unused__)) static int touchstone_filter(enum touchstone_stage stage, pid_t self) {
#ifndef TOUCHSTONE_ARCH
    (void)stage;
    (void)self;
    errno = ENOSYS;
    return -1;
#else
    struct sock_filter code[2 * TOUCHSTONE_LENGTH(touchstone_never) + 2 * TOUCHSTONE_LENGTH(touchstone_not_in_tests) + 64];
    size_t size = 0;
#define TOUCHSTONE_EMIT(...)                                      \
    do {                                                          \
        const struct sock_filter touchstone_code[] = __VA_ARGS__; \
        code[size++] = touchstone_code[0];                        \
    } while (0)
#define TOUCHSTONE_RETURN(value) TOUCHSTONE_EMIT({BPF_STMT(BPF_RET | BPF_K, (value))})
/* If the accumulator is `value`, the next `count` instructions are executed, else skipped. */
#define TOUCHSTONE_IF(value, count) TOUCHSTONE_EMIT({BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(value), 0, (count))})
#define TOUCHSTONE_LOAD(offset) TOUCHSTONE_EMIT({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))})
    TOUCHSTONE_LOAD(offsetof(struct seccomp_data, arch));
    TOUCHSTONE_EMIT({BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TOUCHSTONE_ARCH, 1, 0)});
    TOUCHSTONE_RETURN(SECCOMP_RET_TRAP);
    TOUCHSTONE_LOAD(offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    /* The x32 ABI has its own numbers. */
    TOUCHSTONE_EMIT({BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1)});
    TOUCHSTONE_RETURN(SECCOMP_RET_TRAP);
#endif
    for (size_t i = 0; i < TOUCHSTONE_LENGTH(touchstone_never); i++) {
        TOUCHSTONE_IF(touchstone_never[i].number, 1);
        TOUCHSTONE_RETURN(SECCOMP_RET_TRAP);
    }
#ifdef __NR_prlimit64
    /* Limits of other processes. */
    TOUCHSTONE_IF(__NR_prlimit64, 4);
    TOUCHSTONE_LOAD(TOUCHSTONE_ARGUMENT(0));
    TOUCHSTONE_EMIT({BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0)});
    TOUCHSTONE_RETURN(SECCOMP_RET_TRAP);
    TOUCHSTONE_RETURN(SECCOMP_RET_ALLOW);
#endif
    unsigned process = SECCOMP_RET_ALLOW;
    if (stage == TOUCHSTONE_COUNTED) process = SECCOMP_RET_USER_NOTIF;
    if (stage == TOUCHSTONE_TEST) process = SECCOMP_RET_TRAP;
    if (process != SECCOMP_RET_ALLOW) {
        /* Threads are allowed. Without clone3 the library falls back to clone, whose flags a filter can inspect. */
#ifdef __NR_clone3
        TOUCHSTONE_IF(__NR_clone3, 1);
        TOUCHSTONE_RETURN(SECCOMP_RET_ERRNO | ENOSYS);
#endif
#ifdef __NR_fork
        TOUCHSTONE_IF(__NR_fork, 1);
        TOUCHSTONE_RETURN(process);
        TOUCHSTONE_IF(__NR_vfork, 1);
        TOUCHSTONE_RETURN(process);
#endif
        TOUCHSTONE_IF(__NR_clone, 4);
        TOUCHSTONE_LOAD(TOUCHSTONE_ARGUMENT(0));
        TOUCHSTONE_EMIT({BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0)});
        TOUCHSTONE_RETURN(process);
        TOUCHSTONE_RETURN(SECCOMP_RET_ALLOW);
    }
    if (stage == TOUCHSTONE_TEST) {
        for (size_t i = 0; i < TOUCHSTONE_LENGTH(touchstone_not_in_tests); i++) {
            TOUCHSTONE_IF(touchstone_not_in_tests[i].number, 1);
            TOUCHSTONE_RETURN(SECCOMP_RET_TRAP);
        }
        const int signals[] = {__NR_tgkill, __NR_tkill,
#ifdef __NR_kill
                               __NR_kill
#endif
        };
        for (size_t i = 0; i < TOUCHSTONE_LENGTH(signals) && self > 0; i++) {
            TOUCHSTONE_IF(signals[i], 4);
            TOUCHSTONE_LOAD(TOUCHSTONE_ARGUMENT(0));
            TOUCHSTONE_EMIT({BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)self, 1, 0)});
            TOUCHSTONE_RETURN(SECCOMP_RET_TRAP);
            TOUCHSTONE_RETURN(SECCOMP_RET_ALLOW);
        }
    }
    TOUCHSTONE_RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)size, code};
    if (syscall(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    if (stage == TOUCHSTONE_COUNTED)
        return (int)syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, TOUCHSTONE_NEW_LISTENER, &program);
    return (int)syscall(__NR_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#endif
}

#endif
