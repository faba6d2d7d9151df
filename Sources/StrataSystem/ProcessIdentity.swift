import Glibc

/// The identifier and name of a process, for the text of a lock file.
package struct ProcessIdentity: Sendable {
    package let identifier: Int32
    package let name: String

    package static var current: ProcessIdentity {
        // Files of /proc report no size, so `readAll` would read nothing.
        let line = try? RealFileSystem().open("/proc/self/comm", .read).read(count: 64, at: 0)
        let name = String(decoding: (line ?? []).prefix { $0 != 0x0A }, as: UTF8.self)
        return ProcessIdentity(identifier: getpid(), name: name.isEmpty ? "?" : name)
    }

    /// Returns true if a process with that identifier is visible; processes of other containers are not.
    package static func isRunning(_ identifier: Int32) -> Bool {
        identifier > 0 && (kill(identifier, 0) == 0 || errno != ESRCH)
    }
}
