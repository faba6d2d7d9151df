import StrataModel
import StrataSystem

/// A summary of the states of a store. Obtaining it takes no lock and creates or writes nothing.
package struct StateSummary: Sendable {
    package var directory: String
    /// The bytes of all files.
    package var byteCount: Int
    /// The result that opening would have.
    package var finding: StateFinding
    /// The newest usable state, and its trees; nil if there is none.
    package var newest: (state: DurableState, trees: Snapshot)?
    /// The reasons why other states are unusable.
    package var reasons: [StrataError]
}

extension TreeStore {
    /// Opens the newest usable state up to an offset for reading, while another process may write. Returns a store
    /// whose own runs are unnamed files; nil if there is no usable state. It takes no lock: files that are open stay
    /// readable when the writer removes them.
    ///
    /// - Parameters:
    ///   - offset: the highest offset; kept states count too.
    ///   - scratch: the directory of the unnamed files, and the beginning of their names.
    ///   - isValid: returns true if the log has that chain value at that offset.
    package static func openForReading(
        in path: String, _ owner: RunOwner, hashed: Set<TreeID>, upTo offset: UInt64 = .max,
        files: any FileSystem, options: TreeStoreOptions = TreeStoreOptions(),
        scratch: (directory: String, name: String),
        isValid: (Position) throws -> Bool
    ) throws -> OpenedTreeStore? {
        guard let (search, found) = try search(in: path, owner, upTo: offset, files, isValid), let found else {
            return nil
        }
        let store = TreeStore(
            newest: try newest(of: found.levels, roots: found.roots, options: options),
            nextNumber: found.file.nextNumber,
            home: RunHome(place: .unnamed("\(scratch.directory)/\(scratch.name)", RealFileSystem())), owner: owner,
            hashed: hashed, options: options)
        return OpenedTreeStore(
            store: store, state: DurableState(found.file), finding: search.finding(found.file),
            reasons: search.reasons)
    }

    /// Looks for a state, again if a writer has replaced states meanwhile, and with them files. Returns nil if there is
    /// no directory.
    static func search(
        in path: String, _ owner: RunOwner, upTo offset: UInt64, _ files: any FileSystem,
        _ isValid: (Position) throws -> Bool
    ) throws -> (search: StateSearch, found: StateSearch.Found?)? {
        guard try fileNames(in: path, files) != nil else { return nil }
        let directory = directory(in: path)
        var search = try StateSearch(directory, owner, files)
        while true {
            let found = try search.newest(upTo: offset, isValid)
            guard search.reasons.contains(where: { $0.code == .notFound }) else { return (search, found) }
            let again = try StateSearch(directory, owner, files)
            if again.sequences == search.sequences { return (search, found) }
            search = again
        }
    }

    /// Summarizes the states of a store. Returns nil if there are none.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    package static func summary(
        in path: String, _ owner: RunOwner, files: any FileSystem, isValid: (Position) throws -> Bool
    ) throws -> StateSummary? {
        guard let (search, found) = try search(in: path, owner, upTo: .max, files, isValid) else { return nil }
        return StateSummary(
            directory: directory(in: path), byteCount: try byteCount(in: path, files: files) ?? 0,
            finding: search.finding(found?.file),
            newest: try found.map { found in
                (DurableState(found.file), try newest(of: found.levels, roots: found.roots))
            }, reasons: search.reasons)
    }

    /// The bytes of all files of the states of a store, without those that a writer removes meanwhile; nil if there is
    /// no directory.
    package static func byteCount(in path: String, files: any FileSystem) throws -> Int? {
        let directory = directory(in: path)
        return try fileNames(in: path, files)?.reduce(0) { sum, name in
            guard let file = try? files.open("\(directory)/\(name)", .read) else { return sum }
            defer { file.close() }
            return sum + ((try? file.size()) ?? 0)
        }
    }
}
