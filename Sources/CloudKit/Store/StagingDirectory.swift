import Foundation
import StrataSystem

/// A temporary directory of this process.
///
/// The process keeps a lock file next to it locked. A process that finds an unlocked lock file knows that its owner is
/// gone, and removes the leftovers.
final class StagingDirectory: Sendable {
    static let shared = StagingDirectory(in: NSTemporaryDirectory())

    private static let prefix = "strata-assets-"
    private static let lockSuffix = ".lock"
    /// The number of attempts, since another process may remove the lock file as a leftover before it is locked.
    private static let attempts = 8

    private struct Made {
        let path: String
        // Stays open as long as the process.
        let lock: any File
    }

    private let parent: String
    private let files = RealFileSystem()
    private let made = Lock<Made?>(nil)

    init(in parent: String) {
        self.parent = parent.count > 1 && parent.hasSuffix("/") ? String(parent.dropLast()) : parent
    }

    /// Returns the path of the directory, which is created on first use; nil if that fails.
    func path() -> String? {
        made.withLock { known in
            // Other programs clean up temporary directories too.
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
        // Another process may have removed it as a leftover just before it was locked.
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
            // A living process holds its lock, and the lock of another user cannot be opened.
            guard let lock = try? files.open(lockPath, .write) else { continue }
            defer { lock.close() }
            guard (try? lock.tryLock()) == true else { continue }
            // The directory first: without its lock file it would never be removed.
            try? FileManager.default.removeItem(atPath: String(lockPath.dropLast(Self.lockSuffix.count)))
            unlink(lockPath)
        }
    }
}
