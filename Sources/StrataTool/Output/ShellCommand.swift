import Glibc
import StrataModel

/// A command that the shell runs in a process of its own.
enum ShellCommand {
    /// - Parameters:
    ///   - descriptor: the file or pipe that the command has as `standard`, one of its standard descriptors.
    ///   - signals: the signals that this process handles or ignores. The command gets their defaults.
    static func start(
        _ command: String, with descriptor: Int32, as standard: Int32, signals numbers: [Int32]
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let line: [String] = ["sh", "-c", command]
        var words = line.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let result = posix_spawn(&child, "/bin/sh", &actions, &attributes, &words, environ)
        guard result == 0 else { throw StrataError.systemCall("posix_spawn", path: "/bin/sh", errno: result) }
        return child
    }
}
