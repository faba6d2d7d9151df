import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// A store with events that this release does not know, as one with shares is to releases without them.
@Suite("Stores of later releases")
struct NewerStoreTests {
    private let disk = SimulatedDisk()
    private let path = "/Newer.strata"
    private var platform: Platform { Platform(files: disk) }

    private func open(_ access: AccessMode = .readWrite) throws -> Store {
        try Store.open(at: path, access: access, platform: platform)
    }

    /// The content of every file of the store, but not of its lock.
    private func files(in directory: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try disk.list(directory) where name != "LOCK" {
            if let bytes = try? disk.content(of: "\(directory)/\(name)") {
                files["\(directory)/\(name)"] = bytes
            } else {
                files.merge(try self.files(in: "\(directory)/\(name)")) { $1 }
            }
        }
        return files
    }

    @Test("An unknown event is newerFormat, for writers and readers, and nothing is changed", arguments: [false, true])
    func unknownEvents(hasViews: Bool) throws {
        let anna = Actor(user: "anna")
        let store = try open()
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        _ = try store.modify(NoteRequest.saving(["a"]), as: anna)
        try store.close()
        if !hasViews { for name in disk.paths where name.hasPrefix("\(path)/views/") { try disk.removeFile(name) } }
        let log = try SegmentedLog.open(at: path, platform: platform)
        var commit = CommitBuilder()
        // The kinds of shares are 64 to 66; to a release without them they are as unknown as these are to this one.
        for kind: UInt64 in 67...69 { try commit.append(Event(EventKind(rawValue: kind), body: [1, 2, 3])) }
        let payload = commit.payload(EnvelopeHeader(user: 1))
        let new = NewCommit(id: Identifier(high: 1, low: 1), time: 1_900_000_000_000_000, payload: payload[...])
        _ = try log.append([new], expecting: log.end)
        try log.close()
        let before = try files(in: path)
        for access in [AccessMode.readWrite, .readOnly] {
            for _ in 0..<2 {
                let code = thrownCode {
                    let store = try open(access)
                    defer { try? store.close() }
                    _ = try store.snapshot().record(NoteRequest.id("a"), in: NoteRequest.database, as: anna)
                }
                #expect(code == .newerFormat, "\(access)")
                #expect(try files(in: path) == before, "\(access)")
            }
        }
    }
}
