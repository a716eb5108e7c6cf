/* Touchstone's launcher: runs a test program in a sandbox.
 *
 *     sandbox --probe SCRATCH                                 prints the layers that work on this machine, one per line
 *     sandbox --parent PID --layers A,B,... SCRATCH PROGRAM [ARGUMENT...]
 *
 * A separate program, because constructors of the program under test run before the harness. Layers:
 *
 *     landlock     no writes outside of SCRATCH, no TCP, (from Linux 6.12) no signals out
 *     mounts       without Landlock: everything but SCRATCH is mounted read-only
 *     namespaces   of users, processes, network and IPC: no other process to signal, none outlives the launcher
 *     seccomp      no sockets, no tracing, no changes of modes and owners, ... (touchstone_filter.h); with namespaces,
 *                  also a limit on the number of processes
 *
 * The launcher exits with 97 if a requested layer is not available, so that nothing runs with less protection. */
#define _GNU_SOURCE
#include "touchstone_filter.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>

enum { NOT_LAUNCHED = 97 };
/* The number of processes in addition to one per test; every test is an argument of the command line. */
enum { MORE_PROCESSES = 64 };

/* ---- Landlock: constants are defined here, because headers may be older than the kernel ---- */

#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_add_rule 445
#define __NR_landlock_restrict_self 446
#endif

struct ruleset {
    uint64_t files, net, scoped;
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((__packed__));

enum {
    WRITE_FILE = 1 << 1,
    MAKE_CHAR = 1 << 6,
    MAKE_BLOCK = 1 << 11,
    REFER = 1 << 13,
    TRUNCATE = 1 << 14,
    IOCTL_DEV = 1 << 15,
    /* WRITE_FILE, REMOVE_DIR, REMOVE_FILE, MAKE_*: all modifications; reading and executing are unrestricted. */
    CHANGES = 0x1fff & ~((1 << 0) | (1 << 2) | (1 << 3))
};

static long landlock_version(void) { return syscall(__NR_landlock_create_ruleset, NULL, 0, 1); }

static int allow_beneath(int rules, const char *path, uint64_t allowed) {
    struct beneath rule = {allowed, open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0) return -1;
    long failed = syscall(__NR_landlock_add_rule, rules, 1, &rule, 0);
    close(rule.parent);
    return failed ? -1 : 0;
}

static int enter_landlock(const char *scratch) {
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
    long version = landlock_version();
    if (version < 1) return -1;
    struct ruleset wanted = {CHANGES, 0, 0};
    if (version >= 2) wanted.files |= REFER;
    if (version >= 3) wanted.files |= TRUNCATE;
    if (version >= 4) wanted.net = 3;
    if (version >= 5) wanted.files |= IOCTL_DEV;
    if (version >= 6) wanted.scoped = 3;
    size_t size = version >= 6 ? sizeof wanted : version >= 4 ? 16 : 8;
    int rules = (int)syscall(__NR_landlock_create_ruleset, &wanted, size, 0);
    if (rules < 0) return -1;
    if (allow_beneath(rules, scratch, wanted.files & ~(uint64_t)(MAKE_CHAR | MAKE_BLOCK)) != 0) return -1;
    for (size_t i = 0; i < TOUCHSTONE_LENGTH(devices); i++)
        allow_beneath(rules, devices[i], wanted.files & (WRITE_FILE | TRUNCATE | IOCTL_DEV));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    long failed = syscall(__NR_landlock_restrict_self, rules, 0);
    close(rules);
    return failed ? -1 : 0;
}

/* ---- namespaces ---- */

static int write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t written = write(file, text, strlen(text));
    close(file);
    return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* Maps the user to itself, so that the program sees the same user. */
static int enter_namespaces(int flags) {
    char text[64];
    unsigned user = getuid(), group = getgid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | flags) != 0) return -1;
    write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1", user, user);
    if (write_file("/proc/self/uid_map", text) != 0) return -1;
    snprintf(text, sizeof text, "%u %u 1", group, group);
    return write_file("/proc/self/gid_map", text);
}

#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
struct attributes {
    uint64_t set, clear, propagation, namespace;
};

/* Spaces and other special characters are escaped as three octal digits. */
static void decode(char *path) {
    char *to = path;
    for (const char *from = path; *from; to++) {
        if (from[0] == '\\' && from[1] && from[2] && from[3]) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else
            *to = *from++;
    }
    *to = 0;
}

/* Before Linux 5.12: one mount after the other. Mounts that cannot be inspected cannot be written to either. */
static int close_mounts(const char *scratch) {
    char line[8192], path[4096];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    int failed = !mounts;
    while (!failed && fgets(line, sizeof line, mounts)) {
        struct statvfs now;
        if (sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1) continue;
        decode(path);
        if (strcmp(path, scratch) == 0 || statvfs(path, &now) != 0) continue;
        unsigned long kept = now.f_flag & (ST_NOSUID | ST_NODEV | ST_NOEXEC | ST_NOATIME | ST_NODIRATIME | ST_RELATIME);
        failed = mount(NULL, path, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | kept, NULL) != 0 && errno != EINVAL;
    }
    if (mounts) fclose(mounts);
    return failed ? -1 : 0;
}

/* Makes everything read-only except for the scratch directory. */
static int enter_mounts(const char *scratch) {
    struct attributes closed = {1, 0, 0, 0}, opened = {0, 1, 0, 0};
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1;
    if (mount(scratch, scratch, NULL, MS_BIND, NULL) != 0) return -1;
#ifndef TOUCHSTONE_OLD_MOUNTS
    if (syscall(__NR_mount_setattr, AT_FDCWD, "/", 0x8000 /* AT_RECURSIVE */, &closed, sizeof closed) == 0)
        return (int)syscall(__NR_mount_setattr, AT_FDCWD, scratch, 0, &opened, sizeof opened);
    if (errno != ENOSYS) return -1;
#endif
    (void)closed;
    (void)opened;
    return close_mounts(scratch);
}

/* True if the root of the file system is still writable: verifies the read-only mounts. */
static int root_is_closed(void) {
    struct statvfs now;
    return statvfs("/", &now) == 0 && (now.f_flag & ST_RDONLY);
}

/* ---- probing of layers ---- */

enum layer { LANDLOCK = 1, MOUNTS = 2, NAMESPACES = 4, SECCOMP = 8 };
static const struct {
    enum layer layer;
    const char *name;
} layers[] = {{LANDLOCK, "landlock"}, {MOUNTS, "mounts"}, {NAMESPACES, "namespaces"}, {SECCOMP, "seccomp"}};

/* Tries a layer in its own process. */
static int works(enum layer layer, const char *scratch) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        int failed = 1;
        if (layer == LANDLOCK) failed = enter_landlock(scratch);
        if (layer == MOUNTS) failed = enter_namespaces(CLONE_NEWNS) || enter_mounts(scratch) || !root_is_closed();
        if (layer == SECCOMP) failed = touchstone_filter(TOUCHSTONE_PROGRAM, 0);
        if (layer == NAMESPACES) {
            failed = enter_namespaces(0);
            if (!failed) {
                pid_t inner = fork();
                if (inner == 0) _exit(getpid() != 1);
                failed = inner < 0 || waitpid(inner, &status, 0) != inner || status != 0;
            }
        }
        _exit(failed != 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int probe(const char *scratch) {
    for (size_t i = 0; i < TOUCHSTONE_LENGTH(layers); i++)
        if (works(layers[i].layer, scratch)) puts(layers[i].name);
    return 0;
}

static unsigned wanted_layers(char *list) {
    unsigned wanted = 0;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ","))
        for (size_t i = 0; i < TOUCHSTONE_LENGTH(layers); i++)
            if (strcmp(word, layers[i].name) == 0) wanted |= layers[i].layer;
    return wanted;
}

/* ---- the launch ---- */

static void fail(const char *what) {
    printf("Bail out! the sandbox can't be entered: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(NOT_LAUNCHED);
}

static void limit(int resource, rlim_t value) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0) return;
    if (limits.rlim_max == RLIM_INFINITY || value < limits.rlim_max) limits.rlim_max = value;
    if (limits.rlim_cur == RLIM_INFINITY || limits.rlim_max < limits.rlim_cur) limits.rlim_cur = limits.rlim_max;
    setrlimit(resource, &limits);
}

/* Ends with the process that started the launcher, even if that is killed. */
static void die_with(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail("prctl");
    if (parent && getppid() != parent) _exit(NOT_LAUNCHED);
}

/* Limits the processes in addition to those that the user already has: before Linux 5.14 all of them count. */
static void limit_processes(void) {
    struct rlimit before, now;
    if (getrlimit(RLIMIT_NPROC, &before) != 0) return;
    for (rlim_t most = 256; most < before.rlim_max && most < 1 << 20; most *= 4) {
        now = (struct rlimit){most, before.rlim_max};
        if (setrlimit(RLIMIT_NPROC, &now) != 0) return;
        pid_t child = fork();
        if (child == 0) _exit(0);
        if (child > 0) {
            waitpid(child, NULL, 0);
            limit(RLIMIT_NPROC, most);
            return;
        }
    }
    setrlimit(RLIMIT_NPROC, &before);
}

/* ---- number of processes: the init of the namespace decides about each ---- */

struct question {
    uint64_t id;
    uint32_t pid, flags;
    struct seccomp_data call;
};
struct answer {
    uint64_t id;
    int64_t value;
    int32_t error;
    uint32_t flags;
};

static void answer(int listener, long *left) {
    struct question question;
    memset(&question, 0, sizeof question);
    if (ioctl(listener, _IOWR('!', 0, struct question), &question) != 0) return;
    struct answer answer = {question.id, 0, 0, 1 /* continue the call */};
    if (--*left < 0) answer.error = -EAGAIN, answer.flags = 0;
    ioctl(listener, _IOWR('!', 1, struct answer), &answer);
}

static void pass_on(int channel, int descriptor) {
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = space;
        message.msg_controllen = sizeof space;
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
    }
    if (sendmsg(channel, &message, 0) != 1) fail("sendmsg");
}

static int take(int channel) {
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec text = {&byte, 1};
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    int descriptor = -1;
    if (part && part->cmsg_type == SCM_RIGHTS) memcpy(&descriptor, CMSG_DATA(part), sizeof(int));
    return descriptor;
}

/* Before Linux 5.5 a listener cannot permit a call. */
static int can_be_asked(void) {
    struct utsname kernel;
    int major, minor;
    if (uname(&kernel) != 0 || sscanf(kernel.release, "%d.%d", &major, &minor) != 2) return 0;
    return major > 5 || (major == 5 && minor >= 5);
}

/* `channel` is connected to the init of the namespace; negative if there is none. */
static void become_program(unsigned wanted, const char *scratch, int channel, char **program) {
    if (chdir(scratch) != 0) fail("chdir");
    setenv("TMPDIR", scratch, 1);
    setsid();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, (rlim_t)256 << 20);
    limit_processes();
    if ((wanted & MOUNTS) && enter_mounts(scratch) != 0) fail("mounts");
    /* The working directory may still be the one below the mount. */
    if ((wanted & MOUNTS) && chdir(scratch) != 0) fail("chdir");
    if ((wanted & LANDLOCK) && enter_landlock(scratch) != 0) fail("landlock");
    if (wanted & SECCOMP) {
        setenv("TOUCHSTONE_SECCOMP", "1", 1);
        int listener = channel >= 0 && can_be_asked() ? touchstone_filter(TOUCHSTONE_COUNTED, 0) : -1;
        if (listener < 0 && touchstone_filter(TOUCHSTONE_PROGRAM, 0) != 0) fail("seccomp");
        if (channel >= 0) pass_on(channel, listener);
        if (listener >= 0) close(listener);
    }
    if (channel >= 0) close(channel);
    execv(program[0], program);
    fail(program[0]);
}

static int ended(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

/* The init process of the namespace: it reaps orphans, and all others end with it. */
static void be_init(unsigned wanted, const char *scratch, char **program, long processes) {
    int status, channel[2] = {-1, -1};
    sigset_t children, before;
    die_with(0);
    if ((wanted & SECCOMP) && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) fail("socketpair");
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, &before);
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become_program(wanted, scratch, channel[1], program);
    }
    close(channel[1]);
    int listener = channel[0] >= 0 ? take(channel[0]) : -1;
    struct pollfd polls[2] = {{signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK), POLLIN, 0}, {listener, POLLIN, 0}};
    for (;;) {
        struct signalfd_siginfo info;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (pid == child) _exit(ended(status));
        if (pid < 0 && errno != EINTR) _exit(NOT_LAUNCHED);
        if (poll(polls, 2, -1) < 0 && errno != EINTR) _exit(NOT_LAUNCHED);
        if (polls[1].revents & POLLIN) answer(listener, &processes);
        while (polls[0].revents && read(polls[0].fd, &info, sizeof info) > 0) {
        }
    }
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--probe") == 0) return probe(argv[2]);
    if (argc < 7 || strcmp(argv[1], "--parent") != 0 || strcmp(argv[3], "--layers") != 0) {
        fputs("usage: sandbox --parent PID --layers LIST SCRATCH PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    pid_t parent = (pid_t)atol(argv[2]);
    unsigned wanted = wanted_layers(argv[4]);
    const char *scratch = argv[5];
    char **program = argv + 6;
#ifdef __NR_close_range
    syscall(__NR_close_range, 3, ~0u, 0);
#endif
    setenv("TOUCHSTONE_SCRATCH", scratch, 1);
    if (!(wanted & (NAMESPACES | MOUNTS))) {
        die_with(parent);
        become_program(wanted, scratch, -1, program);
    }
    if (enter_namespaces(wanted & MOUNTS ? CLONE_NEWNS : 0) != 0) fail("namespaces");
    /* Only now, because a change of credentials resets it. */
    die_with(parent);
    int status;
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) be_init(wanted, scratch, program, argc + MORE_PROCESSES);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return NOT_LAUNCHED;
    return ended(status);
}
