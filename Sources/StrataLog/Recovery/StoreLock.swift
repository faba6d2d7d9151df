import StrataModel
import StrataSystem

/// The lock of a store's only writing process: an exclusive lock on its directory, and on `LOCK`, whose content names
/// the holder. Removing `LOCK` removes the name, not the lock.
final class StoreLock: Sendable {
    private let directory: (any File)?
    private let file: any File

    /// - Throws: `.locked`, with the holder's name, if another opener has the lock.
    init(_ paths: StorePaths, _ files: any FileSystem) throws {
        directory = try files.openDirectory(paths.store)
        // Some network file systems cannot lock directories; only `LOCK` is left there.
        if let directory, (try? directory.tryLock()) == false {
            directory.close()
            throw Self.isLocked(paths, try? files.open(paths.lock, .read))
        }
        do { file = try files.open(paths.lock, .writeOrCreate) } catch {
            directory?.close()
            throw error
        }
        do {
            guard try file.tryLock() else { throw Self.isLocked(paths, file) }
            let process = ProcessIdentity.current
            let name = [UInt8]("pid \(process.identifier) (\(process.name))\n".utf8)
            try file.write(name, at: 0)
            try file.truncate(to: name.count)
        } catch {
            release()
            throw error
        }
    }

    private static func isLocked(_ paths: StorePaths, _ holder: (any File)?) -> StrataError {
        let bytes = try? holder?.read(count: 256, at: 0)
        var name = bytes.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) } ?? "a writer"
        let words = name.split(separator: " ")
        if words.first == "pid", words.count > 1, let identifier = Int32(words[1]),
            !ProcessIdentity.isRunning(identifier)
        {
            name += ", which is not running here; a process forked by it may hold the lock"
        }
        return StrataError(
            .locked, "Another process or store object is writing to this store, which can still be opened for reading.",
            .init(path: paths.lock, expected: "no writer", found: name))
    }

    func release() {
        file.close()
        directory?.close()
    }
}
