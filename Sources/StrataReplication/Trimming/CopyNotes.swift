import StrataLog
import StrataModel
import StrataSystem

/// The progress of each copy of a store, in a directory that all processes share (docs/replication-internals.md §12),
/// for trims, and to tell which copies have carried out erasures.
struct CopyNotes {
    struct Note: Equatable {
        /// The last entry that the copy need not read again.
        var number: UInt64
        /// When it was noted, in microseconds since 1970.
        var time: Int64
        /// The directory of the copy on its machine.
        var path: String
        /// The offset up to which the copy has carried out all erasures; nil if an earlier build wrote the note.
        var erased: UInt64?
    }

    private static let erasedLabel = "erased "
    private static let maximumBytes = 8_192
    private static let nameBytes = 32
    /// Copies without a note for this long do not count.
    private static let liveMicroseconds: Int64 = 7 * 86_400_000_000

    private let files: any FileSystem
    private let parent: String
    private var directory: String { parent + "/copies" }

    init(in filesDirectory: String, _ files: any FileSystem) {
        self.files = files
        parent = StorePaths(filesDirectory).store
    }

    /// Writes the note of a copy; returns false if the directory does not belong to its store, or not yet.
    func write(_ note: Note, of copy: Identifier, in store: Identifier) throws -> Bool {
        guard try files.exists(parent + "/OWNER") else { return false }
        let owner = try files.readAll(parent + "/OWNER", atMost: 64)
        guard owner.elementsEqual(store.description.utf8) else { return false }
        if try !files.exists(directory) {
            try files.makeDirectory(directory)
            try files.syncDirectory(parent)
        }
        let erased = note.erased.map { "\(Self.erasedLabel)\($0)\n" } ?? ""
        let text = "\(note.number)\n\(note.time)\n\(note.path)\n\(erased)"
        try files.replace("\(directory)/\(copy)", in: directory, with: Array(text.utf8))
        return true
    }

    /// Returns the notes of all copies, also of those that may no longer exist.
    func all(now: Int64) throws -> [Note] {
        guard try files.exists(directory) else { return [] }
        return try files.list(directory).filter { $0.utf8.count == Self.nameBytes }
            .map { try note(directory + "/" + $0, now: now) }
    }

    /// Returns the notes of the copies that noted something in the last days.
    func live(now: Int64) throws -> [Note] { try all(now: now).filter { $0.time > now - Self.liveMicroseconds } }

    /// Reads a note; a damaged one may be of a copy that has read nothing.
    private func note(_ path: String, now: Int64) throws -> Note {
        let text = String(decoding: try files.readAll(path, atMost: Self.maximumBytes), as: UTF8.self)
        let lines = text.split(separator: "\n", maxSplits: 2)
        guard lines.count == 3, let number = UInt64(lines[0]), let time = Int64(lines[1]) else {
            return Note(number: 0, time: now, path: path)
        }
        var (place, erased) = (lines[2].dropLast(), nil as UInt64?)
        // Last, because a path may have line ends.
        if let end = place.lastIndex(of: "\n"), case let last = place[end...].dropFirst(),
            last.hasPrefix(Self.erasedLabel), let offset = UInt64(last.dropFirst(Self.erasedLabel.count))
        {
            (place, erased) = (place[..<end], offset)
        }
        return Note(number: number, time: time, path: String(place), erased: erased)
    }
}
