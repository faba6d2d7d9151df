import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataTool

/// What stores have in common that hold the same.
private struct StoreContent {
    struct Entry: Equatable {
        let offset: UInt64
        let id: Identifier
        let time: Int64
        /// With zeros in place of the secret.
        let payload: [UInt8]
    }

    let commits: [Entry]
    let floor: Position
    let chain: UInt32
    let digests: String
    let secret: StoreSecret?

    init(_ path: String) throws {
        let log = try LogReader.open(at: path)
        var cursor = try log.read(from: log.floor.offset + 1)
        var commits: [Entry] = []
        while let commit = try cursor.next() {
            let payload = SecretMask.masked(commit.payload)
            commits.append(Entry(offset: commit.offset, id: commit.id, time: commit.time, payload: Array(payload)))
        }
        self.commits = commits
        (floor, chain) = (log.floor, log.end.chain)
        let store = try Store.openForReading(at: path)
        defer { try? store.close() }
        let snapshot = store.snapshot()
        digests = "\(try snapshot.digests())"
        secret = try snapshot.trees.secret()
    }

    /// True if a store differs by nothing but a secret of its own, and the chain values that follow from it.
    func isImported(as other: Self) -> Bool {
        let areSecretsOwn = secret == nil ? other.secret == nil : other.secret.map(\.key) != secret?.key
        return areSecretsOwn && secret?.number == other.secret?.number && commits == other.commits
            && floor == other.floor && digests == other.digests
    }
}

@Suite struct ImportCommandTests {
    private let directory: TestDirectory
    private var copy: String { directory.path("Copy.strata") }

    init() throws { directory = try TestDirectory() }

    private func run(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    private func run(_ words: [String]) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    /// Nothing but what a test put there itself.
    private func expectNothingIsLeft(_ names: Set<String> = ["Out"]) throws {
        let found = try RealFileSystem().list(directory.path).filter { !$0.hasPrefix("errors-") }
        #expect(Set(found).isSubset(of: names), "\(found)")
    }

    private func export(_ store: String, _ words: String...) throws {
        let result = try run(["export", store, "Out"] + words)
        #expect(result.code == 0, "\(result)")
    }

    private static let secretNote =
        "chain values differ from commit 1 on: the new store draws a secret of its own there"

    /// - Parameter chainNote: what is said of chain values; nil if they are the same.
    private func expectSame(_ store: String, chainNote: String? = secretNote) throws {
        let sameChain = chainNote == nil
        let result = try run("import", "Copy.strata", "Out", "--json")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        try PromisedKeys.expect(object, follows: "What `import` prints")
        #expect(object["sameChain"] as? Bool == sameChain)
        let notes = try #require(object["notes"] as? [String]).filter { $0.hasPrefix("chain values") }
        #expect(notes == [chainNote].compactMap(\.self))
        let (old, new) = (try StoreContent(store), try StoreContent(copy))
        #expect(old.isImported(as: new))
        #expect(object["count"] as? Int == new.commits.count && (old.chain == new.chain) == sameChain)
        #expect(try run("verify", "Copy.strata").code == 0)
        let identities = try [store, copy].map { try LogReader.open(at: $0).identity }
        #expect(identities[0].storeID != identities[1].storeID)
        #expect(identities[0].containerIdentifier == identities[1].containerIdentifier)
    }

    // MARK: Commits

    @Test(arguments: [false, true]) func aStoreWithManySegments(_ isSealed: Bool) throws {
        let fixture = try StateFixture(segmentBytes: 64 << 10)
        try fixture.change { try fixture.saveMany(40, bytes: 6_000, to: $0) }
        if isSealed {
            let log = try SegmentedLog.open(at: fixture.path)
            while try log.sealNext() {}
            try log.close()
        }
        try #require(try LogReader.open(at: fixture.path).segments.count > 3)
        try export(fixture.path)
        try expectSame(fixture.path)
        let notes = try run("import", "Again.strata", "Out")
        try #require(notes.lines.count == 4, "\(notes)")
        #expect(notes.lines[0].hasPrefix("45 commits imported into Again.strata; "))
        #expect(notes.lines[1].contains("'assets'") && notes.lines[2].contains("'keys'"))
        #expect(notes.lines[3] == "note: \(Self.secretNote)")
    }

    /// With assets and keys beside it, all of a store is there.
    @Test func withAssetsAndKeysAllIsThere() throws {
        let fixture = try StateFixture()
        try export(fixture.path)
        try expectSame(fixture.path)
        for name in ["assets", "keys"] {
            try FileManager.default.copyItem(atPath: "\(fixture.path)/\(name)", toPath: "\(copy)/\(name)")
        }
        let store = try Store.open(at: copy)
        defer { try? store.close() }
        let milk = try store.snapshot().record(
            RecordID("milk", zone: StateFixture.notes), in: DatabaseID(.private), as: StateFixture.phone)
        var fields = try milk.fields
        let secrets = Secrets()
        try secrets.reveal(&fields, of: milk)
        #expect(secrets.firstReason == nil && fields["pin"] == .string("1234"))
        // And it goes on as any store does.
        try fixture.save("more", to: store)
        #expect(store.offset == StateFixture.end + 1)
    }

    @Test func aStoreWithRefusalsDeletionsAndSchemas() throws {
        let world = try VersionedStore.varied().world
        let store = try Store.open(at: world.path)
        try store.declareSchema(
            try SchemaDefinition(reading: "DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE, other INT64);"))
        try store.close()
        try export(world.path)
        try expectSame(world.path)
    }

    /// Commits of the service, and a note of a refusal, say in their headers who asked and what was judged.
    @Test func causesComeBack() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.store.setQuota(bytes: 1_000_000, of: "anna")
        let refused = Request(database: DatabaseID(.private), .administer(.resetEncryptedData))
        #expect(throws: Refusal.self) { try world.store.modify(refused, as: VersionedStore.phone) }
        try world.store.close()
        let log = try LogReader.open(at: world.path)
        let headers = try (2...3 as ClosedRange<UInt64>).map {
            try Envelope(decoding: #require(try log.commit(at: $0)).payload).header
        }
        #expect(headers.map(\.actorKind) == [.service, nil] && headers.map(\.judgedOn) == [nil, 2])
        try export(world.path)
        try expectSame(world.path)
    }

    @Test func anEmptyStore() throws {
        let fixture = try StoreFixture()
        try fixture.close()
        try export(fixture.path)
        try expectSame(fixture.path, chainNote: nil)
    }

    @Test func aCompactedStore() throws {
        let fixture = try StateFixture(segmentBytes: 64 << 10)
        try fixture.change { store in
            try fixture.saveMany(30, bytes: 6_000, to: store)
            try store.compact(before: 20)
        }
        try export(fixture.path)
        try expectSame(fixture.path, chainNote: nil)
        #expect(try LogReader.open(at: copy).floor.offset == 19)
        // Compacted to its end: nothing but a base.
        try fixture.change { _ = try $0.compact(before: $0.offset + 1) }
        try RealFileSystem().remove(directory.path("Out"))
        try FileManager.default.removeItem(atPath: copy)
        try export(fixture.path)
        try expectSame(fixture.path, chainNote: nil)
    }

    /// Chain values stand for what was there, which is not there any more.
    @Test func aStoreOfWhichSomethingWasErased() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("secret", ["rank": .int64(1)])
        try world.save("other", ["rank": .int64(2)])
        try world.erase("secret")
        try world.store.close()
        try export(world.path)
        // From the first commit on they are others anyway.
        try expectSame(world.path)
    }

    /// A base has the secret, so only the erasure changes chain values.
    @Test func aCompactedStoreOfWhichSomethingWasErased() throws {
        let world = try VersionedStore()
        try world.makeZones()
        try world.save("first", ["rank": .int64(0)])
        try world.store.compact(before: 3)
        try world.save("secret", ["rank": .int64(1)])
        try world.save("other", ["rank": .int64(2)])
        try world.erase("secret")
        try world.store.close()
        try export(world.path)
        try expectSame(
            world.path,
            chainNote: "chain values differ from commit 3 on: something was erased there, and the old value covers the "
                + "content before the erasure")
    }

    @Test func payloadsThatAreNoEnvelopes() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append([9, 9, 9])
        // A header field that this release does not know, and may skip.
        try fixture.append([1, 3, 0x29, 1, 7, 1, 131, 1, 0])
        try fixture.close()
        let text = try fixture.run("export", fixture.name).output
        #expect(text.contains(#""payload":"CQkJ","checksum":"#))
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path("Out")))
        #expect(try run("import", "Copy.strata", "Out").code == 0)
        let old = try LogReader.open(at: fixture.path, touches: { _ in [] })
        let new = try LogReader.open(at: copy, touches: { _ in [] })
        #expect(old.end == new.end && old.end.offset == 6)
    }

    @Test func throughAPipe() throws {
        let fixture = try StateFixture()
        let line = "\"$0\" export \"$1\" | \"$0\" import Copy.strata -"
        let result = try ToolProcess.run(
            ["-c", line, try ToolProcess.toolPath, fixture.path], in: directory.path, program: "/bin/sh")
        #expect(result.code == 0, "\(result)")
        #expect(try StoreContent(fixture.path).isImported(as: StoreContent(copy)))
    }

    // MARK: What is refused

    @Test func whatIsThereAlreadyStays() throws {
        let fixture = try StoreFixture.small()
        try export(fixture.path)
        try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
        let before = try RealFileSystem().readAll(copy + "/STORE", atMost: 4_096)
        let result = try run("import", "Copy.strata", "Out")
        #expect(result.code == 1 && result.errors.contains("Something already exists at the path of the new store."))
        #expect(try RealFileSystem().readAll(copy + "/STORE", atMost: 4_096) == before)
        try expectNothingIsLeft(["Out", "Copy.strata"])
    }

    @Test(
        arguments: [
            (["--from", "3"], "it lacks the commits before commit 3"),
            (["--zone", "Notes"], "it lacks commits that do not touch zone 'Notes'"),
        ] as [([String], String)])
    func exportsWithGapsAreRefused(_ words: [String], _ reason: String) throws {
        let fixture = try StateFixture()
        #expect(try run(["export", fixture.path, "Out"] + words).code == 0)
        for option in [[], ["--partial"]] {
            let result = try run(["import", "Copy.strata", "Out"] + option)
            #expect(result.code == 1 && result.errors.contains(reason), "\(result)")
            #expect(result.errors.contains("cannot become a store"))
        }
        try expectNothingIsLeft()
    }

    @Test func exportsThatEndEarlyAreImportedIfAskedTo() throws {
        let fixture = try StateFixture()
        #expect(try run("export", fixture.path, "Out", "--to", "3").code == 0)
        let refused = try run("import", "Copy.strata", "Out")
        #expect(refused.code == 1 && refused.errors.contains("With --partial the store ends where the export does"))
        try expectNothingIsLeft()
        let done = try run("import", "Copy.strata", "Out", "--partial")
        #expect(done.code == 0 && done.output.contains("note: the export lacks the commits after commit 3"), "\(done)")
        let past = try Store.open(at: fixture.path, through: 3)
        defer { try? past.close() }
        let store = try Store.openForReading(at: copy)
        defer { try? store.close() }
        #expect(try store.offset == 3 && store.snapshot().digests() == past.snapshot().digests())
    }

    /// Lines of an export, with one of them changed or missing.
    private func broken(_ body: (inout [String]) -> Void) throws {
        let fixture = try StateFixture()
        var lines = try run("export", fixture.path).lines.map(String.init)
        body(&lines)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: directory.path("Out")))
    }

    private func expectRefusal(_ reason: String, _ words: String...) throws {
        let result = try run(["import", "Copy.strata", "Out"] + words)
        #expect(result.code == 1 && result.output.isEmpty && result.errors.contains(reason), "\(result)")
        try expectNothingIsLeft()
    }

    @Test func aMissingEnd() throws {
        try broken { $0.removeLast() }
        try expectRefusal("The export is truncated: its last line is missing.")
        let part = try run("import", "Copy.strata", "Out", "--partial")
        #expect(
            part.code == 0 && part.output.contains("note: the commits after commit 5 were not imported: "), "\(part)")
        #expect(try LogReader.open(at: copy).end.offset == 5)
    }

    @Test func aMissingCommit() throws {
        try broken { $0.remove(at: 3) }
        try expectRefusal("expected commit 3, found commit 4")
        #expect(try run("import", "Copy.strata", "Out", "--partial").code == 0)
        #expect(try LogReader.open(at: copy).end.offset == 2)
    }

    @Test func aLineThatWasCutShort() throws {
        try broken { $0[3].removeLast(20) }
        try expectRefusal("line 4")
    }

    /// A character of a body, which is base64 afterwards as it was before.
    @Test func aChangedBody() throws {
        try broken { lines in
            guard let place = lines[3].firstRange(of: "\"body\":\"") else { return }
            let old = lines[3][place.upperBound]
            lines[3].replaceSubrange(place.upperBound...place.upperBound, with: old == "A" ? "B" : "A")
        }
        try expectRefusal("A payload of the export does not match its checksum.")
    }

    @Test func changedNumbers() throws {
        try broken { $0[$0.count - 1] = $0[$0.count - 1].replacing("\"count\":5", with: "\"count\":6") }
        try expectRefusal("expected 6 commits up to 5, found 5 commits")
        try broken { $0[2] = $0[2].replacing("\"time\":", with: "\"time\":9") }
        try expectRefusalOfTimes()
        try broken { $0.append("{}") }
        try expectRefusal("expected nothing after the last line")
    }

    /// Times never fall; that is no damage of the file, but nothing that a log can have either.
    private func expectRefusalOfTimes() throws {
        let result = try run("import", "Copy.strata", "Out")
        #expect(result.code == 3 && result.errors.contains("A commit's time must not be before"), "\(result)")
        try expectNothingIsLeft()
    }

    @Test func whatIsNoExport() throws {
        for (text, reason) in [
            ("", "The export is empty."), ("{}\n", "The file is not an export of a store."), ("note\n", "line 1"),
            (#"{"format":"strata export","version":2,"content":"commits","complete":true}"#, "(newerFormat)"),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: directory.path("Out")))
            try expectRefusal(reason)
        }
        let missing = try run("import", "Copy.strata", "Nothing")
        #expect(missing.code == 3 && missing.errors.contains("cannot open Nothing: no such file or directory"))
        #expect(!missing.errors.contains("Check the path"), "\(missing)")
    }

    /// An import that is killed leaves nothing that is a store.
    @Test func killed() throws {
        let fixture = try StateFixture(segmentBytes: 64 << 10)
        try fixture.change { try fixture.saveMany(600, bytes: 50, to: $0) }
        let text = try run("export", fixture.path).output
        try #require(mkfifo(directory.path("Out"), 0o600) == 0)
        let tool = try ToolProcess(["import", "Copy.strata", "Out"], in: directory.path)
        // More than one batch, and not all.
        let file = try #require(FileHandle(forWritingAtPath: directory.path("Out")))
        try file.write(contentsOf: Data(text.utf8.prefix(text.utf8.count - 2_000)))
        var draft: String?
        _ = try eventually {
            let found = try RealFileSystem().list(directory.path).first { $0.hasPrefix("Copy.strata.importing-") }
            guard let found else { return false }
            // Until there are commits in it.
            let segment = directory.path(found) + "/log/00000000000000000001.seg"
            if let file = try? RealFileSystem().open(segment, .read), try file.size() > 1_000 { draft = found }
            return draft != nil
        }
        let name = try #require(draft)
        kill(tool.identifier, SIGKILL)
        #expect(try tool.wait() == 128 + SIGKILL)
        try file.close()
        #expect(try !RealFileSystem().exists(copy))
        let info = try run("info", name)
        #expect(info.code == 3 && info.errors.contains("(notAStore)"), "\(info)")
        // Neither a reader nor a writer takes it for one.
        #expect(throws: (any Error).self) { try Store.open(at: directory.path(name)).close() }
    }

    @Test func wrongArguments() throws {
        let fixture = try StoreFixture.small()
        try export(fixture.path)
        let user = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(user.code == 2 && user.errors.contains("--user is for exports of records, but FILE has commits"))
        #expect(try run("import", "Copy.strata").code == 2)
        try expectNothingIsLeft()
    }
}

/// Records, which are saved as their user would.
@Suite struct RecordImportTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func run(_ words: String...) throws -> ToolResult { try ToolProcess.run(words, in: directory.path) }

    /// Parents that come behind their children, references, a value of each kind, and a zone without records.
    private func world() throws -> VersionedStore {
        let world = try VersionedStore()
        try world.makeZones([VersionedStore.notes, VersionedStore.photos])
        try world.save("z-top", ["title": .string("top")])
        try world.save("m-middle", [:], parent: .set("z-top"))
        var builder = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        let link = builder.reference(to: RecordID("nowhere", zone: VersionedStore.notes), action: .deleteSelf)
        builder.save(
            RecordID("a-leaf", zone: VersionedStore.notes), type: "Leaf", parent: .set("m-middle"),
            fields: [
                "bytes": .data([0, 255, 7]), "when": .date(1.5), "link": link, "price": .double(-0.0),
                "rank": .int64(.min), "big": .double(1e300),
                "place": .location(.init(latitude: 1, longitude: -2, altitude: 3, timestamp: 4)),
                "tags": .list(try FieldList([.string("a"), .string("ü\n\u{1F600}")])), "none": .list(.empty),
                "text": .string("\"\\\u{1}"), "links": .list(try FieldList([link, link])),
            ])
        try world.modify(builder.request)
        for number in 0..<250 { try world.save("note-\(number)", ["rank": .int64(Int64(number))]) }
        try world.save("news", ["title": .string("News")], in: ZoneID("_defaultZone"), database: DatabaseID(.public))
        try world.store.close()
        return world
    }

    /// Records as an export has them, without what is of one store alone.
    private func records(of store: String) throws -> [String: String] {
        var found: [String: String] = [:]
        for line in try run("export", store, "--records").lines where line.hasPrefix("{\"record\":") {
            var object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            for key in ["changeTag", "created", "modified", "createdBy", "modifiedBy", "modifiedWith"] {
                object[key] = nil
            }
            let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            found[try #require(object["record"] as? String)] = String(decoding: data, as: UTF8.self)
        }
        return found
    }

    @Test func recordsAreSavedAgain() throws {
        let world = try world()
        #expect(try run("export", world.path, "Out", "--records").code == 0)
        let result = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(result.code == 0 && result.lines.first?.hasPrefix("256 records imported into Copy.strata; ") == true)
        let (old, new) = (try records(of: world.path), try records(of: "Copy.strata"))
        // Of the records of the user, one in each database, the name is the same.
        #expect(old == new && old.count == 255)
        let zones = try run("zones", "Copy.strata").output
        #expect(zones.contains("Photos") && zones.contains("private of anna") && zones.contains("public"))
        #expect(try run("verify", "Copy.strata").code == 0)
        // Somebody else may be their owner now.
        #expect(try run("import", "Other.strata", "Out", "--user", "bert").code == 0)
        #expect(try run("records", "Other.strata", "--user", "bert", "--zone", "Notes").code == 0)
    }

    @Test func whatCannotBeSavedAsItWas() throws {
        let fixture = try StateFixture()
        #expect(try run("export", fixture.path, "Out", "--records").code == 0)
        let sealed = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(sealed.code == 1 && sealed.errors.contains("record 'milk' cannot be saved as it was: "), "\(sealed)")
        let world = try VersionedStore.varied().world
        #expect(try run("export", world.path, "Out", "--records").code == 0)
        let owners = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(owners.code == 1 && owners.errors.contains("private records of anna and of bert"), "\(owners)")
        #expect(try RealFileSystem().list(directory.path).allSatisfy { !$0.hasPrefix("Copy") })
    }

    @Test func aParentThatIsNotThere() throws {
        let world = try world()
        #expect(try run("export", world.path, "Out", "--records").code == 0)
        let path = directory.path("Out")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let fewer = lines.filter { !$0.hasPrefix("{\"record\":\"z-top\"") }
        try Data((fewer.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        let result = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(result.code == 1 && result.errors.contains("has the parent 'z-top', which the export does not have"))
        try Data((lines.dropLast().joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: path))
        let cut = try run("import", "Copy.strata", "Out", "--user", "anna")
        #expect(cut.code == 1 && cut.errors.contains("The export is truncated"))
        #expect(try RealFileSystem().list(directory.path).allSatisfy { !$0.hasPrefix("Copy") })
    }

    @Test func wrongArguments() throws {
        let world = try world()
        #expect(try run("export", world.path, "Out", "--records").code == 0)
        let nobody = try run("import", "Copy.strata", "Out")
        #expect(nobody.code == 2 && nobody.errors.contains("FILE has records: --user NAME must say who saves them"))
        let partial = try run("import", "Copy.strata", "Out", "--user", "anna", "--partial")
        #expect(partial.code == 2 && partial.errors.contains("--partial is for exports of commits"))
    }
}
