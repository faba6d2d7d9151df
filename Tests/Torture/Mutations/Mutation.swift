import Foundation
import Glibc
import TestSupport

/// One thing that is done to the files of a store.
struct Mutation {
    private(set) var text = ""
    private let store: String
    private let foreign: String

    /// - Parameter foreign: another store, whose files may come into this one.
    init(of store: String, foreign: String) { (self.store, self.foreign) = (store, foreign) }

    /// Paths of all files, relative to the store, in an order that is the same everywhere.
    static func files(_ store: String) -> [String] {
        let names = (FileManager.default.enumerator(atPath: store)?.allObjects as? [String] ?? []).sorted()
        return names.filter { name in
            var status = stat()
            return lstat("\(store)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    private var segments: [String] { Self.files(store).filter { $0.hasSuffix(".seg") } }

    /// Changes the files; returns false where there was nothing to change.
    mutating func apply(_ generator: inout SeededGenerator) throws -> Bool {
        let files = Self.files(store)
        // A store has many files of assets; what is rare there shall not be rare here.
        let others = files.filter { !$0.hasPrefix("assets/") }
        let choice = generator.next(below: 5) == 0 ? files : others
        guard !choice.isEmpty else { return false }
        let name = choice[generator.next(below: choice.count)]
        switch generator.next(below: 20) {
        case 0..<10: return try changeBytes(of: name, &generator)
        case 10, 11: return try cut(name, &generator)
        case 12: return try extend(name, &generator)
        case 13, 14: return try remove([name])
        case 15: return try remove(segments.suffix(1 + generator.next(below: 3)))
        case 16: return try duplicate(name, among: others, &generator)
        case 17: return try swap(name, others[generator.next(below: max(1, others.count))])
        default: return try replaceByForeign(name, &generator)
        }
    }

    private func path(_ name: String) -> String { "\(store)/\(name)" }
    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }
    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    private mutating func changeBytes(of name: String, _ generator: inout SeededGenerator) throws -> Bool {
        var bytes = try bytes(name)
        guard !bytes.isEmpty else { return false }
        // Headers and what comes last are hit as often as all the rest.
        let place =
            switch generator.next(below: 4) {
            case 0: generator.next(below: min(bytes.count, 256))
            case 1: bytes.count - 1 - generator.next(below: min(bytes.count, 8_192))
            default: generator.next(below: bytes.count)
            }
        let before = bytes
        switch generator.next(below: 4) {
        case 0:
            let count = min(1 << generator.next(below: 14), bytes.count - place)
            for index in place..<place + count { bytes[index] = 0 }
            text = "\(count) zeros at \(place) of \(name)"
        case 1:
            let count = min(1 + generator.next(below: 64), bytes.count - place)
            bytes.replaceSubrange(place..<place + count, with: generator.nextBytes(count))
            text = "\(count) random bytes at \(place) of \(name)"
        default:
            bytes[place] ^= 1 << UInt8(generator.next(below: 8))
            text = "a bit at \(place) of \(name)"
        }
        try write(bytes, to: name)
        return bytes != before
    }

    private mutating func cut(_ name: String, _ generator: inout SeededGenerator) throws -> Bool {
        let bytes = try bytes(name)
        guard !bytes.isEmpty else { return false }
        let count = generator.next(below: 4) == 0 ? 0 : generator.next(below: bytes.count)
        text = "\(name) cut to \(count) of \(bytes.count)"
        return truncate(path(name), off_t(count)) == 0
    }

    private mutating func extend(_ name: String, _ generator: inout SeededGenerator) throws -> Bool {
        let count = 1 << generator.next(below: 14)
        let more = generator.next(below: 2) == 0 ? [UInt8](repeating: 0, count: count) : generator.nextBytes(count)
        text = "\(name) has \(count) more bytes"
        try write(try bytes(name) + more, to: name)
        return true
    }

    private mutating func remove(_ names: some Sequence<String>) throws -> Bool {
        let names = Array(names)
        text = "removed \(names.joined(separator: ", "))"
        for name in names { unlink(path(name)) }
        return !names.isEmpty
    }

    private mutating func duplicate(
        _ name: String, among others: [String], _ generator: inout SeededGenerator
    ) throws -> Bool {
        var target = "\(name).copy"
        if name.hasSuffix(".seg") {
            let number = UInt64(generator.next(below: 2_000))
            let digits = String(number)
            target = "log/" + String(repeating: "0", count: 20 - digits.count) + digits + ".seg"
        }
        text = "a copy of \(name) as \(target)"
        guard name != target else { return false }
        try write(try bytes(name), to: target)
        return true
    }

    private mutating func swap(_ one: String, _ other: String) throws -> Bool {
        let (first, second) = (try bytes(one), try bytes(other))
        text = "\(one) and \(other) swapped"
        try write(second, to: one)
        try write(first, to: other)
        return first != second
    }

    private mutating func replaceByForeign(_ name: String, _ generator: inout SeededGenerator) throws -> Bool {
        let folder = name.split(separator: "/").dropLast().joined(separator: "/")
        let strange = Self.files(foreign).filter { $0 == name || !folder.isEmpty && $0.hasPrefix(folder + "/") }
        guard !strange.isEmpty else { return false }
        let source = strange[generator.next(below: strange.count)]
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(foreign)/\(source)"))
        text = "\(name) is \(source) of another store"
        let isOther = try Array(data) != bytes(name)
        try data.write(to: URL(fileURLWithPath: path(name)))
        return isOther
    }
}
