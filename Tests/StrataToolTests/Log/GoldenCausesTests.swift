import Foundation
import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// A store as it was written when logs began to record causes: the rules, whole requests, and notes of requests that
/// wrote nothing. Later versions must read it, and write the same.
@Suite("The golden store with causes")
struct GoldenCausesTests {
    private static let names = ["STORE", "log/00000000000000000001.seg"]
    private static let name = "Causes.strata"
    private static let (phone, tablet) = (Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "tablet"))
    private static let notes = ZoneID("Notes")

    private static func saving(_ title: String, base: Version? = nil) -> Request {
        var request = RequestBuilder(DatabaseID(.private))
        request.save(RecordID("tea", zone: notes), type: "Note", base: base, fields: ["title": .string(title)])
        return request.request
    }

    /// Commits 1 and 7 state rules; 5, 6 and 8 note what wrote nothing.
    private func generate() throws -> SimulatedDisk {
        let (disk, time) = (SimulatedDisk(), ManualTime(microseconds: StateFixture.startTime))
        let platform = Platform(files: disk, time: time, random: SeededRandom(seed: 1))
        var options = StoreOptions.service
        options.recordsRefusals = true
        options.auditDelayMilliseconds = 600_000
        func open() throws -> Store { try Store.open(at: "/" + Self.name, options: options, platform: platform) }
        var store = try open()
        func ask(_ request: Request, as actor: Actor = Self.phone) throws {
            time.advance(byMicroseconds: 1_000_000)
            try store.modify(request, as: actor)
        }
        try ask(.zones(saving: [Self.notes]))
        try ask(Self.saving("Tea"))
        let all = Subscription(
            "all", .database, zone: 0, recordType: 0, predicate: "", options: [], notification: nil)
        try ask(Request(database: DatabaseID(.private), .modifySubscriptions(.init(saves: [all]))))
        var gone = RequestBuilder(DatabaseID(.private))
        gone.delete(RecordID("gone", zone: Self.notes))
        try ask(Self.saving("Coffee"), as: Self.tablet)
        try ask(gone.request, as: Self.tablet)
        // With it come the notes.
        try ask(Self.saving("Green tea", base: Version(offset: 2, eventIndex: 3)))
        try store.close()
        options.limits.itemsPerRequest = 7
        store = try open()
        try ask(gone.request)
        try ask(Request(database: DatabaseID(.private), .modifySubscriptions(.init(deletes: ["all"]))))
        try store.close()
        return disk
    }

    @Test("Writing it again gives the same bytes; STRATA_UPDATE_GOLDEN=1 writes them")
    func sameBytes() throws {
        let (disk, files) = (try generate(), RealFileSystem())
        for name in Self.names {
            let bytes = try disk.content(of: "/\(Self.name)/\(name)")
            let path = Golden.path("\(Self.name)/\(name)")
            if Golden.isUpdated {
                for folder in ["", "/log"] { try files.makeDirectory(Golden.path(Self.name) + folder) }
                try Data(bytes).write(to: URL(fileURLWithPath: path))
            }
            #expect(try bytes == files.readAll(path, atMost: 1 << 20), "\(name)")
        }
    }

    @Test("The tool reads it, and judges each request as it was judged then")
    func reading() throws {
        let (directory, files) = (try TestDirectory(), RealFileSystem())
        for folder in ["", "/log"] { try files.makeDirectory(directory.path(Self.name) + folder) }
        for name in Self.names {
            let bytes = try files.readAll(Golden.path("\(Self.name)/\(name)"), atMost: 1 << 20)
            try Data(bytes).write(to: URL(fileURLWithPath: directory.path("\(Self.name)/\(name)")))
        }
        func run(_ words: String...) throws -> String {
            let result = try ToolProcess.run(words, in: directory.path)
            #expect(result.code == 0 && result.errors.isEmpty, "\(words): \(result)")
            return "$ strata \(words.joined(separator: " "))\n" + result.output
        }
        var output = try run("log", Self.name, "--patch")
        for offset in 1...8 { output += try run("explain", Self.name, "\(offset)") }
        output += try run("verify", Self.name) + run("verify", Self.name, "--judge")
        #expect(try run("info", Self.name).contains("\ncommits     8\n"))
        if Golden.isUpdated { try Golden.update("causes.txt", output) }
        #expect(try output == String(contentsOfFile: Golden.path("causes.txt"), encoding: .utf8))
    }
}
