import Glibc
import StrataJetStream
import StrataPostgres
import TestSupport
import Testing

/// A thing that a test needs and a machine may lack: a program, a library, a terminal or a user's rights.
///
/// ```swift
/// @Suite("A consumer in order", .needs(.natsServer))
/// ```
package struct Need: Sendable {
    let isMet: Bool
    /// The reason why a test is skipped, and the way to get the thing.
    let notice: Comment

    package init(_ isMet: Bool, orSkip notice: Comment) {
        self.isMet = isMet
        self.notice = notice
    }

    private static func program(_ name: String, debianPackage: String) -> Need {
        Need(Programs.path(name) != nil, orSkip: "there is no program \(name): install \(debianPackage)")
    }

    package static let openssl = program("openssl", debianPackage: "openssl")
    package static let python3 = program("python3", debianPackage: "python3")
    package static let script = program("script", debianPackage: "bsdutils")

    package static let libedit = Need(
        dlopen("libedit.so.2", RTLD_NOW) != nil, orSkip: "there is no line editor: install libedit2")
    package static let libpq = Need(
        (try? PQLibrary.load()) != nil, orSkip: "there is no client library of PostgreSQL: install libpq5")
    package static let natsServer = Need(
        Programs.natsServer != nil && (try? NATSLibrary.shared()) != nil,
        orSkip: "there is no nats-server 2.12 or later with libnats3.4: run tools/nats install")

    package static let terminal = Need(
        hasTerminals, orSkip: "there are no pseudo-terminals here: mount devpts at /dev/pts")
    package static let ordinaryUser = Need(
        geteuid() != 0, orSkip: "root may read and write everything: run the tests as another user too")

    /// False in a container or a changed root that has no terminals.
    private static var hasTerminals: Bool {
        ChildProcess.spawning.withLock { _ in
            var (leader, follower): (Int32, Int32) = (-1, -1)
            guard openpty(&leader, &follower, nil, nil, nil) == 0 else { return false }
            close(leader)
            close(follower)
            return true
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test with a notice where the machine lacks a thing; `tools/test` prints the notices at its end.
    package static func needs(_ need: Need) -> Self { .enabled(if: need.isMet, need.notice) }
}
