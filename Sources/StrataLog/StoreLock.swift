import StrataModel
import StrataSystem

/// The one writing process of a store: an exclusive lock on `LOCK`, whose content names the holder.
final class StoreLock: Sendable {
    private let file: any File

    /// - Throws: `.locked` with the holder's name if another opener has it.
    init(_ paths: StorePaths, _ files: any FileSystem) throws {
        file = try files.open(paths.lock, .writeOrCreate)
        guard try file.tryLock() else {
            let holder = try? file.read(count: 256, at: 0)
            file.close()
            throw StrataError(
                .locked, "Another opener is writing to this store; it may still be read.",
                .init(
                    path: paths.lock, expected: "no writer",
                    found: holder.map { String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self) } ?? "a writer"))
        }
        let process = ProcessIdentity.current
        let name = [UInt8]("pid \(process.identifier) (\(process.name))\n".utf8)
        do {
            try file.write(name, at: 0)
            try file.truncate(to: name.count)
        } catch {
            file.close()
            throw error
        }
    }

    func release() { file.close() }
}
