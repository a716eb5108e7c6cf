/* Preloaded into clang: instead of running once, it waits for requests and serves each in a fork that runs as if it had just
   been started. So the libraries, which take most of the time for a small file, are loaded and linked once.

   A request arrives on a socket: three numbers (bytes of the rest, arguments, variables), then the directory, the
   arguments and the environment as strings. The reply is clang's output, a zero byte and the exit status.
   The server ends at the end of its standard input, that is, with its parent.

   Five of six bytes of clang's output for deep code are indentation, and most of the output for headers is their
   documentation and include stacks. None of it is read: it is suppressed here, and the rest is written compactly
   (`compact.c`, which precedes this file). */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

typedef int Program(int, char **, char **);
typedef int Start(Program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

enum { MAX_RUNNING = 64, LARGEST = 4 << 20 };

extern char **environ;
static Program *program;
static int knows_layout;
static struct { pid_t process; int answer; } running[MAX_RUNNING];

static int receive(int from, void *to, size_t size)
{
    char *at = to;
    while (size) {
        ssize_t got = read(from, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        at += got;
        size -= (size_t)got;
    }
    return 1;
}

/* Parses `count` strings into a null-terminated array and advances. */
static char **strings(char **at, char *end, unsigned count)
{
    char **made = calloc(count + 1, sizeof *made);
    for (unsigned index = 0; made && index < count; index++) {
        char *last = memchr(*at, 0, (size_t)(end - *at));
        if (!last) return NULL;
        made[index] = *at;
        *at = last + 1;
    }
    return made;
}

/* In the forked process: becomes the requested clang. */
static int become(int answer, unsigned *head, char *text)
{
    char *at = text, *end = text + head[0];
    char **directory = strings(&at, end, 1), **words = strings(&at, end, head[1]), **variables = strings(&at, end, head[2]);
    int nothing = open("/dev/null", O_RDWR);
    sigset_t none;
    if (!directory || !words || !variables || !head[1] || nothing < 0 || chdir(directory[0])) _exit(255);
    dup2(nothing, 0);
    dup2(answer, 1);
    dup2(nothing, 2);
    for (int other = 3; other < 256; other++) close(other);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    environ = variables;
    /* The layout of C++ nodes is untested. */
    int is_c = knows_layout;
    for (char **word = words; *word; word++) is_c &= !!strcmp(*word, "c++");
    if (is_c) tell_shortly();
    return program((int)head[1], words, variables);
}

static void ended(pid_t process, int status)
{
    char said[2] = {0, (char)(WIFEXITED(status) ? WEXITSTATUS(status) : 255)};
    for (int index = 0; index < MAX_RUNNING; index++) {
        if (running[index].process != process) continue;
        send(running[index].answer, said, sizeof said, MSG_NOSIGNAL);
        close(running[index].answer);
        running[index].process = 0;
    }
}

/* Serves a request. Returns only in the new process, with its exit status, or with -1. */
static int request(int answer)
{
    unsigned head[3];
    char *text = NULL;
    struct timeval limit = {2, 0};
    int place = 0;
    setsockopt(answer, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    while (place < MAX_RUNNING && running[place].process) place++;
    if (place < MAX_RUNNING && receive(answer, head, sizeof head) && head[0] < LARGEST && head[1] < LARGEST && head[2] < LARGEST)
        text = malloc(head[0] + 1);
    if (text && receive(answer, text, head[0])) {
        pid_t process = fork();
        if (!process) return become(answer, head, text);
        if (process > 0) {
            running[place].process = process;
            running[place].answer = answer;
            free(text);
            return -1;
        }
    }
    /* The client gets no reply and starts an ordinary clang. */
    free(text);
    close(answer);
    return -1;
}

static void replace_function(const char *name, const unsigned char *code, size_t length)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    if (function) replace_code(function, code, length);
}

/* Suppresses indentation (`raw_ostream &raw_ostream::indent(unsigned)`), include stacks
   (`void JSONNodeDumper::writeIncludeStack(PresumedLoc, bool)`) and documentation comments
   (`void Sema::ActOnComment(SourceRange)`). If the functions are not found, clang prints everything, which is harmless. */
static void print_less(void)
{
#ifdef __x86_64__
    static const unsigned char give_stream[] = {0x48, 0x89, 0xf8, 0xc3}, give_nothing[] = {0xc3}; /* mov %rdi,%rax; ret */
    replace_function("_ZN4llvm11raw_ostream6indentEj", give_stream, sizeof give_stream);
    replace_function("_ZN5clang14JSONNodeDumper17writeIncludeStackENS_11PresumedLocEb", give_nothing, sizeof give_nothing);
    replace_function("_ZN5clang4Sema12ActOnCommentENS_11SourceRangeE", give_nothing, sizeof give_nothing);
#endif
}

/* Compiles an empty input once, so that forks find clang's initialisation done. */
static void warm_up(void)
{
    char *words[] = {"clang", "-fsyntax-only", "-x", "c", "/dev/null", NULL};
    program(5, words, environ);
}

static int serve(int count, char **words, char **variables)
{
    struct sockaddr_un name = {AF_UNIX, ""};
    sigset_t children;
    (void)count, (void)words, (void)variables;
    print_less();
#ifdef __x86_64__
    knows_layout = can_tell_shortly();
#endif
    warm_up();
    /* The socket gets its public name only when it listens; before, it would refuse connections. */
    const char *known = getenv("TOUCHSTONE_RESIDENT");
    if (strlen(known) + 2 > sizeof name.sun_path) return 1;
    stpcpy(stpcpy(name.sun_path, known), "~");
    int asked = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (asked < 0 || bind(asked, (struct sockaddr *)&name, sizeof name) || listen(asked, MAX_RUNNING)) return 1;
    if (rename(name.sun_path, known)) return 1;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    int told = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    struct pollfd all[3] = {{0, POLLIN, 0}, {asked, POLLIN, 0}, {told, POLLIN, 0}};
    while (told >= 0) {
        if (poll(all, 3, -1) < 0 && errno != EINTR) return 1;
        if (all[0].revents) _exit(0);
        if (all[2].revents) {
            struct signalfd_siginfo what;
            int status;
            pid_t process;
            while (read(told, &what, sizeof what) > 0) {}
            while ((process = waitpid(-1, &status, WNOHANG)) > 0) ended(process, status);
        }
        if (all[1].revents) {
            int answer = accept4(asked, NULL, NULL, SOCK_CLOEXEC);
            int status = answer < 0 ? -1 : request(answer);
            if (status >= 0) return status;
        }
    }
    return 1;
}

int __libc_start_main(Program *main, int count, char **words, void (*begin)(void), void (*end)(void), void (*unload)(void),
                      void *stack)
{
    Start *start = (Start *)dlsym(RTLD_NEXT, "__libc_start_main");
    char own[4096] = "";
    const char *meant = getenv("TOUCHSTONE_RESIDENT_IS");
    /* A shell that starts clang is not clang itself. */
    if (meant && readlink("/proc/self/exe", own, sizeof own - 1) > 0 && !strcmp(own, meant)) {
        program = main;
        main = serve;
    }
    return start(main, count, words, begin, end, unload, stack);
}
