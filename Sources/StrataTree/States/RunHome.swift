import StrataSystem

/// The place of the files of a store's runs.
struct RunHome: Sendable {
    enum Place: Sendable {
        /// Files with names in a directory, which states name.
        case directory(String, any FileSystem)
        /// Files that have names for a moment, which begin with the given path.
        case unnamed(String, any FileSystem)
        case memory
    }

    enum Use: String, CaseIterable {
        case piece = "run"
        case blob
    }

    let place: Place

    /// True if files outlive the store.
    var isDurable: Bool {
        if case .directory = place { return true }
        return false
    }

    /// Returns false if the medium has less room. A file that does not fit would take what the log needs.
    func hasRoom(_ byteCount: Int) -> Bool {
        let free: Int? =
            switch place {
            case .directory(let directory, let files): try? files.freeBytes(of: directory)
            case .unnamed(let path, let files):
                try? files.freeBytes(of: String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]))
            case .memory: nil
            }
        return free.map { $0 >= byteCount } ?? true
    }

    /// Creates an empty file. One that is left over from a crash is replaced.
    func create(_ number: UInt64, _ use: Use) throws -> any File {
        switch place {
        case .directory(let directory, let files):
            let path = Self.path(directory, number, use)
            if try files.exists(path) { try files.remove(path) }
            return try files.open(path, .create)
        case .unnamed(let path, let files): return try files.openUnnamed("\(path).\(number).\(use.rawValue)")
        case .memory: return try MemoryFile.create("\(number).\(use.rawValue)")
        }
    }

    /// Removes a file that no state names; the next state removes those that stay.
    func remove(_ number: UInt64, _ use: Use) {
        if case .directory(let directory, let files) = place { try? files.remove(Self.path(directory, number, use)) }
    }

    static func path(_ directory: String, _ number: UInt64, _ use: Use) -> String {
        "\(directory)/\(number).\(use.rawValue)"
    }

    /// The number in the name of a file; nil for other files.
    static func number(of name: String, _ use: Use) -> UInt64? {
        NumberedName(suffix: ".\(use.rawValue)").number(in: name)
    }
}
