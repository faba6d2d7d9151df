import Foundation
import StrataLog
import StrataModel
import StrataSystem

/// A store that is created under a temporary name, and renamed once it is complete.
///
/// Until then it lacks the file that identifies a store, so an interruption never leaves an incomplete one.
struct StoreDraft {
    let path: String
    /// The temporary path.
    let draftPath: String
    private let files = RealFileSystem()

    /// - Throws: ``StrataError`` `alreadyExists` if the path exists.
    init(_ path: String) throws {
        self.path = StorePaths(path).store
        draftPath = "\(self.path).importing-\(hexadecimal(UInt32.random(in: 0...UInt32.max)))"
        try requireNothing()
    }

    private func requireNothing() throws {
        guard try files.exists(path) else { return }
        throw StrataError(.alreadyExists, "Something already exists at the path of the new store.", .init(path: path))
    }

    /// Calls `body`, which creates the store at ``draftPath``, calls its argument once the store is open, and finally
    /// closes the store.
    func make<Result>(_ body: (_ didOpen: () throws -> Void) throws -> Result) throws -> Result {
        Cleanup.removes(draftPath)
        defer { Cleanup.keep(draftPath) }
        do {
            let result = try body { try files.rename(StorePaths(draftPath).identity, to: heldIdentity) }
            try requireNothing()
            try files.rename(heldIdentity, to: StorePaths(draftPath).identity)
            try files.syncDirectory(draftPath)
            try files.rename(draftPath, to: path)
            try files.syncDirectory(URL(fileURLWithPath: path).deletingLastPathComponent().path)
            return result
        } catch {
            try? FileManager.default.removeItem(atPath: draftPath)
            throw named(error)
        }
    }

    /// Returns the error with the store's path in place of the draft's.
    private func named(_ error: any Error) -> any Error {
        guard var error = error as? StrataError, let place = error.context.path, place.hasPrefix(draftPath) else {
            return error
        }
        error.context.path = path + place.dropFirst(draftPath.count)
        return error
    }

    private var heldIdentity: String { draftPath + "/STORE.held" }
}
