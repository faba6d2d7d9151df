import Foundation
import StrataSystem

/// A directory of this process for files that end with it.
///
/// Beside it stands a file that the process keeps locked. Who finds one that is not locked knows that its process is
/// gone, and removes what it left.
final class StagingDirectory: Sendable {
    static let shared = StagingDirectory(in: NSTemporaryDirectory())

    private static let prefix = "strata-assets-"
    private static let lockSuffix = ".lock"
    /// Somebody who cleans up may take the file before it is locked.
    private static let attempts = 8

    private struct Made {
        let path: String
        // Open as long as the process.
        let lock: any File
    }

    private let parent: String
    private let files = RealFileSystem()
    private let made = Lock<Made?>(nil)

    init(in parent: String) {
        self.parent = parent.count > 1 && parent.hasSuffix("/") ? String(parent.dropLast()) : parent
    }

    /// Made when it is first asked for; nil if it cannot be.
    func path() -> String? {
        made.withLock { known in
            // Others clean up temporary directories too.
            if let path = known?.path, (try? files.exists(path)) == true { return path }
            removeLeftovers()
            known = makeOne()
            return known?.path
        }
    }

    private func makeOne() -> Made? {
        for _ in 0..<Self.attempts {
            if let made = try? make() { return made }
        }
        return nil
    }

    private func make() throws -> Made? {
        let path = "\(parent)/\(Self.prefix)\(SystemRandom().nextIdentifier())"
        let lockPath = path + Self.lockSuffix
        let lock = try files.open(lockPath, .create)
        // Whoever cleans up may have seen it in the moment before it was locked, and taken it away.
        guard try lock.tryLock(), (try? files.open(lockPath, .read).identity()) == (try lock.identity()),
            mkdir(path, 0o700) == 0
        else {
            lock.close()
            return nil
        }
        return Made(path: path, lock: lock)
    }

    private func removeLeftovers() {
        for name in (try? files.list(parent)) ?? [] {
            guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.lockSuffix) else { continue }
            let lockPath = parent + "/" + name
            // That of a living process is locked, and that of another user not ours to open.
            guard let lock = try? files.open(lockPath, .write) else { continue }
            defer { lock.close() }
            guard (try? lock.tryLock()) == true else { continue }
            // The directory first: what is left without its lock file would stay for ever.
            try? FileManager.default.removeItem(atPath: String(lockPath.dropLast(Self.lockSuffix.count)))
            unlink(lockPath)
        }
    }
}
