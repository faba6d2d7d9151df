import StrataLog
import StrataModel
import StrataSystem
import TestSupport

@testable import StrataStore

/// A store on a disk in which some bytes stand, which are to be erased, and others, which are to stay.
struct ErasureFixture {
    static let path = "/Erase.strata"
    static let anna = Actor(user: "anna", device: "phone")
    static let owner = DatabaseID(.private, owner: "anna")
    static let options = StoreOptions(recordsRefusals: true, segmentBytes: 64 << 10)

    let disk: SimulatedDisk
    let store: Store
    /// Of one record each; too random to be compressed.
    let secret = SeededGenerator.text(seed: 1)
    let other = SeededGenerator.text(seed: 2)

    init(_ disk: SimulatedDisk = SimulatedDisk(), seed: UInt64 = 1) throws {
        self.disk = disk
        store = try Self.open(disk, seed: seed)
    }

    static func open(_ disk: SimulatedDisk, seed: UInt64 = 1) throws -> Store {
        try Store.open(
            at: path, options: options, platform: Platform(files: disk, random: SeededRandom(seed: seed)))
    }

    func save(_ name: String, _ text: String, _ fields: [(String, FieldValue)] = []) throws {
        let request = NoteRequest.saving([name], [("text", .string(text))] + fields)
        for result in try store.modify(request, as: Self.anna).result.saves { _ = try result.get() }
    }

    /// Saves several versions of the records `secret` and `other`, deletes and makes the first again, and fills a few
    /// segments between.
    func fill(rounds: Int = 3, fillerBytes: Int = 3_000) throws {
        _ = try store.modify(NoteRequest.makingZones(), as: Self.anna)
        for round in 0..<rounds {
            try save("secret", "\(round) \(secret)")
            try save("other", "\(round) \(other)")
            try save("filler", SeededGenerator.text(seed: UInt64(10 + round), count: fillerBytes))
            if round == 1 { _ = try store.modify(NoteRequest.deleting(["secret"]), as: Self.anna) }
        }
    }

    func erase(_ names: String..., reason: String = "asked for") throws {
        try store.erase(names.map { NoteRequest.id($0) }, in: Self.owner, reason: reason)
    }

    func text(_ name: String, in store: Store? = nil) throws -> String? {
        let record = try (store ?? self.store).snapshot().record(
            NoteRequest.id(name), in: NoteRequest.database, as: Self.anna)
        guard case .string(let text)? = try record["text"] else { return nil }
        return text
    }

    /// The files of the store in which the bytes of a text stand.
    static func files(with text: String, on disk: SimulatedDisk) throws -> [String] {
        let wanted = Array(text.utf8)
        return try disk.paths.filter { $0.hasPrefix(path) }.filter { file in
            do { return isFound(wanted, in: try disk.content(of: file)) } catch let error as StrataError
                where error.code == .notFound && file.hasSuffix("/log/sealing")
            {
                // A segment that was just being sealed has its own name by now, and its bytes are those of the segment.
                return false
            }
        }
    }
}

extension SeededGenerator {
    /// Letters and digits.
    static func text(seed: UInt64, count: Int = 24) -> String {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-".utf8)
        return String(decoding: generator.nextBytes(count).map { letters[Int($0) % 64] }, as: UTF8.self)
    }
}
