import StrataModel
import StrataSystem

/// The file of a store's keys. It is replaced as a whole, and its previous content is overwritten.
struct KeyFile: KeyStorage {
    static let name = "keys"

    private let path: String
    private let directory: String
    private let files: any FileSystem

    init(in directory: String, _ files: any FileSystem) {
        path = "\(directory)/\(Self.name)"
        self.directory = directory
        self.files = files
    }

    /// Returns no keys if there is no file.
    func read() throws -> KeyBook {
        guard try files.exists(path) else { return KeyBook() }
        do { return try Self.read(path, files) } catch let error as StrataError where error.code == .wrongMagic {
            // Another process may have replaced the file and wiped this one while it was read.
            return try Self.read(path, files)
        }
    }

    /// Reads a file of keys.
    static func read(_ path: String, _ files: any FileSystem) throws -> KeyBook {
        let bytes = try files.readAll(path, atMost: KeyBook.maximumBytes + 1)
        guard bytes.count <= KeyBook.maximumBytes else {
            throw StrataError(
                .impossibleLength, "The key file exceeds its maximum size.",
                .init(path: path, expected: "at most \(KeyBook.maximumBytes) bytes"))
        }
        return try KeyBook(decoding: bytes, path: path)
    }

    /// Replaces the file; durable on return. Its previous content is overwritten with zeros, as far as the medium
    /// writes in place.
    @discardableResult
    func replace(with book: KeyBook) throws -> Bool {
        // A draft that a crash left behind contains keys too.
        let draft = path + ".new"
        if try files.exists(draft) {
            try Self.wipe(try files.open(draft, .write))
            try files.remove(draft)
        }
        let old = try files.exists(path) ? try files.open(path, .write) : nil
        try files.replace(path, in: directory, with: book.encoded(), isPrivate: true)
        // The keys are already replaced. If the disk fails here, it keeps bytes that no name leads to.
        if let old { try? Self.wipe(old) }
        return true
    }

    private static func wipe(_ file: any File) throws {
        defer { file.close() }
        try file.wipe()
    }
}
