import Foundation
import StrataModel
import StrataStore
import StrataSystem
import StrataViews
import Testing

@testable import StrataTool

/// `strata device --state`: the state of a sync engine beside its store.
@Suite struct SyncStateCommandTests {
    private let fixture: StateFixture
    private let state: SyncState

    /// The phone's engine has fetched everything, then the tablet changes a note and makes a zone.
    init() throws {
        let fixture = try StateFixture()
        self.fixture = fixture
        state = try fixture.change { store in
            let database = DatabaseID(.private)
            var state = SyncState(store: store.storeID, scope: .private)
            state.user = store.recordName(of: "anna")
            state.subscriptionID = "cksyncengine.private"
            state.lastFetch = 0
            let zones = try store.databaseChanges(in: database, as: StateFixture.phone)
            state.databaseToken = try store.bytes(of: zones.token)
            let page = try store.zoneChanges(of: StateFixture.notes, in: database, as: StateFixture.phone)
            state.zoneTokens = [(StateFixture.notes, try store.bytes(of: page.token))]
            state.zoneChanges = [(ZoneID("New"), .save)]
            state.recordChanges = [
                (RecordID("milk", zone: StateFixture.notes), true), (RecordID("tea", zone: ZoneID("Gone")), false),
            ]
            try fixture.save("milk", ["rank": .int64(9)], as: StateFixture.tablet, to: store)
            try fixture.step { try store.modify(.zones(saving: [ZoneID("Later")]), as: StateFixture.tablet) }
            return state
        }
    }

    private func write(_ data: Data, _ name: String = "engine") throws -> String {
        try data.write(to: URL(fileURLWithPath: fixture.directory.path(name)))
        return name
    }

    private func run(_ state: SyncState, _ more: String..., user: String = "anna") throws -> ToolResult {
        let file = try write(Data(state.encoded()))
        return try fixture.run(["device", fixture.name, user, "phone", "--state", file] + more)
    }

    @Test("What is to be sent, how far the tokens lag, and what the next fetch would bring")
    func text() throws {
        let result = try run(state)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.lines.first == "sync engine of anna on phone, private of anna  at offset 7", "\(result)")
        #expect(result.output.contains("    state         used by an engine\n"), "\(result)")
        #expect(result.output.contains("    subscription  cksyncengine.private\n"))
        #expect(result.output.contains("    fetched last  2001-01-01T00:00:00Z\n"))
        #expect(result.output.contains("    pushed last   never\n"))
        #expect(result.output.contains("    to send       1 change of zones, 2 of records\n"))
        #expect(result.output.contains("    token         at offset 5; made "))
        #expect(result.output.contains("; behind 2 commits\n"))
        #expect(result.output.contains("    next fetch    2 zones changed, 0 deleted, in 1 page\n"))
        #expect(
            result.output.contains(
                """
                zone Gone  does not exist
                    to send  0 saves, 1 delete; it fails without the zone
                    token    none

                """), "\(result)")
        #expect(result.output.contains("    to send     1 save, 0 deletes\n"))
        #expect(result.output.contains("    next fetch  2 records changed, 0 deleted, in 1 page\n"), "and the parent")
        #expect(
            result.output.contains(
                """
                zone Later
                    token       none
                    next fetch  everything from the beginning: 0 records changed, 0 deleted, in 1 page

                """), "\(result)")
        #expect(result.lines.suffix(2) == ["pending save  Notes/milk", "pending delete  Gone/tea"])
    }

    @Test("JSON has all of it")
    func json() throws {
        let file = try write(Data(state.encoded()))
        let object = try fixture.objects("device", fixture.name, "anna", "phone", "--state", file).first
        let report = try #require(object)
        try PromisedKeys.expect(report, follows: "The state of a sync engine")
        #expect(report["used"] as? Bool == true && report["lastFetch"] as? Int == 978_307_200_000_000)
        let token = try #require(report["token"] as? [String: Any])
        try PromisedKeys.expect(token, follows: "A change token")
        #expect(token["commitsBehind"] as? Int == 2 && token["served"] as? Bool == true)
        let next = try #require(report["next"] as? [String: Any])
        try PromisedKeys.expect(next, follows: "What a fetch would bring")
        let zones = try #require(report["zones"] as? [[String: Any]])
        for zone in zones { try PromisedKeys.expect(zone, follows: "A zone of a sync engine") }
        #expect(zones.map { $0["zoneName"] as? String } == ["Gone", "New", "Notes", "Later"])
        let pending = try #require(report["pending"] as? [[String: Any]])
        for change in pending { try PromisedKeys.expect(change, follows: "A change to send") }
        #expect(pending.map { $0["kind"] as? String } == ["save", "delete"])
    }

    @Test("A long list is cut in the text, and whole in JSON")
    func longList() throws {
        var state = state
        state.recordChanges = (0..<1_000).map { (RecordID("r\($0)", zone: StateFixture.notes), true) }
        #expect(try run(state).lines.last == "and 980 more pending changes; --json prints all")
        let objects = try run(state, "--json").output
        let report = try JSONSerialization.jsonObject(with: Data(objects.utf8)) as? [String: Any]
        #expect((report?["pending"] as? [Any])?.count == 1_000)
    }

    @Test("An expired token: the next fetch begins again, and says so")
    func expired() throws {
        var state = state
        let life = try FeedToken(unverified: try #require(state.zoneTokens.first).token)
        var foreign = life
        foreign.position.chain ^= 1
        let sealed = try fixture.change { try $0.bytes(of: foreign) }
        var changed = sealed
        changed[sealed.count - 1] ^= 1
        for bytes in [sealed, changed] {
            state.zoneTokens = [(StateFixture.notes, bytes)]
            let result = try run(state)
            #expect(result.output.contains("refused: client knowledge differs from server knowledge"), "\(result)")
            #expect(
                result.output.contains("    next fetch  everything from the beginning: 2 records changed, 0 deleted"))
        }
        // The form that had a checksum for a seal.
        var earlier = ByteWriter()
        earlier.append(bytes: life.payload())
        state.zoneTokens = [(StateFixture.notes, ChecksummedBytes.seal(earlier))]
        let result = try run(state)
        #expect(result.output.contains("no change token of this release"), "\(result)")
        #expect(result.output.contains("    next fetch  everything from the beginning: 2 records changed, 0 deleted"))
        let json = try run(state, "--json").output
        #expect(json.contains("\"restart\":\"another release made the engine's token\""), "\(json)")
    }

    @Test("A state of another store or user would not be used: the reason, and 1")
    func unused() throws {
        var other = state
        other.store = Identifier(high: 1, low: 2)
        let result = try run(other)
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        #expect(result.output.contains("    state         not used: it is of the store 0000000000000001"), "\(result)")
        #expect(!result.output.contains("next fetch"))
        let stranger = try run(state, user: "bert")
        #expect(stranger.code == 1 && stranger.output.contains("not used: it is of the user _"), "\(stranger)")
        try fixture.change { try $0.setAccountStatus(.noAccount, of: "anna") }
        let signedOut = try run(state)
        #expect(signedOut.code == 1 && signedOut.errors.contains("There is no account on this device."), "\(signedOut)")
        #expect(try run(state, user: "nobody").errors.contains("The store has no user 'nobody'."))
        #expect(try run(state, "--record", "milk").code == 2)
    }

    @Test("A device that is not in the log, and the user's own name in a zone")
    func names() throws {
        let file = try write(Data(state.encoded()))
        let mistyped = try fixture.run("device", fixture.name, "anna", "phnoe", "--state", file)
        #expect(mistyped.code == 0 && mistyped.errors.contains("note: the log has no device 'phnoe' of anna"))
        var own = state
        let zone = ZoneID("Work", owner: try #require(state.user))
        own.recordChanges = [(RecordID("tea", zone: zone), true)]
        let result = try run(own)
        #expect(result.code == 0 && result.output.contains("zone Work\n"), "\(result)")
        #expect(result.output.components(separatedBy: "does not exist").count == 2, "\(result)")
    }

    // MARK: Files

    @Test("A file that is no state says nothing against the store")
    func wrongFile() throws {
        let file = try write(Data("nothing".utf8), "wrong.file")
        let result = try fixture.run("device", fixture.name, "anna", "phone", "--state", file)
        #expect(result.code == 3 && result.errors.contains("wrong.file"), "\(result)")
        #expect(result.errors.hasSuffix("\n  Check the file; the store is not affected.\n"), "\(result)")
        #expect(!result.errors.contains("Copy the store"), "\(result)")
    }

    private struct Kept: Codable {
        struct Serialization: Codable { var data: Data }
        var engine: Serialization
        var count = 3
    }

    @Test("JSON, both kinds of property lists, and one in the other are read as the bytes are")
    func forms() throws {
        let plain = try run(state).output
        let kept = Kept(engine: .init(data: Data(state.encoded())))
        let json = try JSONEncoder().encode(kept)
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        let binary = try list.encode(kept)
        list.outputFormat = .xml
        let defaults = try PropertyListSerialization.data(
            fromPropertyList: ["sync": json, "name": "x"], format: .binary, options: 0)
        for data in [json, binary, try list.encode(kept), defaults] {
            let file = try write(data)
            let result = try fixture.run("device", fixture.name, "anna", "phone", "--state", file)
            #expect(result.output == plain && result.code == 0, "\(result)")
        }
    }

    @Test("Of several states --database selects one")
    func several() throws {
        var shared = SyncState(store: state.store, scope: .shared)
        shared.user = state.user
        let both = [state, shared].map { Kept(engine: .init(data: Data($0.encoded()))) }
        let file = try write(try JSONEncoder().encode(both))
        let words = ["device", fixture.name, "anna", "phone", "--state", file]
        let unclear = try fixture.run(words)
        #expect(unclear.code == 3 && unclear.errors.contains("found 2, of private and shared"), "\(unclear)")
        let same = try write(try JSONEncoder().encode([both[0], both[0]]), "same")
        let twice = try fixture.run(words.dropLast() + [same])
        #expect(twice.code == 3 && twice.errors.contains("save one of them to its own file"), "\(twice)")
        let chosen = try fixture.run(words + ["--database", "shared"])
        #expect(chosen.lines.first == "sync engine of anna on phone, shared of anna  at offset 7", "\(chosen)")
        #expect(try fixture.run(words + ["--database", "public"]).errors.contains("has no state of that database's"))
    }

    @Test("Every flipped bit and every cut is an error that names the file")
    func damage() throws {
        let bytes = state.encoded()
        func error(_ bytes: some Sequence<UInt8>) throws -> StrataError? {
            let file = fixture.directory.path(try write(Data(bytes)))
            do { _ = try SyncStateFile.read(file, scope: nil) } catch let error as StrataError {
                #expect(error.context.path == file)
                return error
            }
            return nil
        }
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= 1 << UInt8(place % 8)
            #expect(try error(damaged) != nil, "\(place)")
            #expect(try error(bytes[..<place]) != nil, "\(place)")
        }
        #expect(try error(bytes + [0])?.code == .malformed)
        #expect(try error(bytes)?.code == nil)
        var later = ByteWriter()
        later.append(bytes: [2] + bytes.dropFirst().dropLast(4))
        #expect(try error(ChecksummedBytes.seal(later))?.code == .newerFormat)
        #expect(try error([2] + bytes.dropFirst())?.code == .malformed)
        #expect(try error(Data("{\"sync\": {\"data\": \"AAAAAAAAAAAAAAAAAAAAAAAA".utf8))?.code == .malformed)
    }

    @Test("A damaged property list is no trap, also if it has a set")
    func damagedList() throws {
        let list = PropertyListEncoder()
        list.outputFormat = .binary
        let bytes = [UInt8](try list.encode([Kept(engine: .init(data: Data(state.encoded())))]))
        var refused = 0
        for place in bytes.indices {
            // An array becomes a set, and every bit is flipped in some byte of each kind.
            for mask in [0x60, 1 << UInt8(place % 8)] as [UInt8] {
                var damaged = bytes
                damaged[place] ^= mask
                let file = fixture.directory.path(try write(Data(damaged)))
                do { _ = try SyncStateFile.read(file, scope: nil) } catch is StrataError { refused += 1 }
            }
        }
        #expect(refused > bytes.count)
    }

    @Test("Foreign files are told what they are")
    func foreign() throws {
        let archive = try NSKeyedArchiver.archivedData(withRootObject: "x" as NSString, requiringSecureCoding: true)
        let wrapped = try JSONEncoder().encode(Kept.Serialization(data: archive))
        for data in [archive, wrapped] {
            let result = try fixture.run("device", fixture.name, "anna", "phone", "--state", try write(data))
            #expect(result.code == 3 && result.errors.contains("keyed archive, as Apple's platforms"), "\(result)")
        }
        for text in ["{\"name\": 3}", "[]", "null", "<plist>", "{", "\u{1}", ""] {
            let file = try write(Data(text.utf8))
            let result = try fixture.run("device", fixture.name, "anna", "phone", "--state", file)
            #expect(result.code == 3 && result.errors.contains("state of a sync engine"), "\(text): \(result)")
        }
        let missing = try fixture.run("device", fixture.name, "anna", "phone", "--state", "none")
        #expect(missing.code == 3 && missing.errors.contains("none"), "\(missing)")
        // Far deeper than any app's structure.
        let deep = String(repeating: "[", count: 500) + String(repeating: "]", count: 500)
        let result = try fixture.run("device", fixture.name, "anna", "phone", "--state", try write(Data(deep.utf8)))
        #expect(result.code == 3, "\(result)")
    }
}
