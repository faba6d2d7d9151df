import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataTool

/// A store with every kind of trouble, and with what nearly is trouble, in an order and number that a seed decides.
final class TroubleHistory {
    /// Trouble that was planted: a finding that must be there.
    struct Expected: CustomStringConvertible {
        let kind: Finding.Kind
        /// The finding's first commit; nil if the moment at which it is written is not known.
        var offset: UInt64?
        /// A name in the finding's sentence.
        let name: String

        var description: String { "\(kind.rawValue) of \(name)" + (offset.map { " at \($0)" } ?? "") }

        func fits(_ finding: Finding) -> Bool {
            finding.kind == kind && (offset == nil || finding.offset == offset) && finding.text.contains(name)
        }
    }

    static let startTime: Int64 = 1_700_000_000_000_000
    static let second: Int64 = 1_000_000
    static let day: Int64 = 86_400 * second

    let directory: TestDirectory
    var path: String { directory.path("Troubled.strata") }
    private(set) var expected: [Expected] = []
    let time = ManualTime(microseconds: startTime)
    private(set) var store: Store
    var random: SeededGenerator
    private var number = 0
    let (phone, tablet) = (Actor(user: "anna", device: "phone"), Actor(user: "anna", device: "tablet"))
    let home = DatabaseID(.private)

    init(seed: UInt64, scenarioCount: Int, segmentBytes: Int = 64 << 20) throws {
        directory = try TestDirectory()
        random = SeededGenerator(seed: seed)
        var options = StoreOptions.service
        (options.durability, options.recordsRefusals, options.recordsFetches) = (.system, true, true)
        options.auditDelayMilliseconds = 600_000
        options.segmentBytes = segmentBytes
        store = try Store.open(
            at: directory.path("Troubled.strata"), options: options,
            platform: Platform(time: time, random: SeededRandom(seed: seed)))
        for user in ["anna", "ben", "cleo"] {
            pass()
            try store.setPerson(Person(), of: user)
        }
        var scenarios = TroubleHistory.scenarios
        while scenarios.count < scenarioCount { scenarios.append(contentsOf: TroubleHistory.scenarios) }
        for index in scenarios.indices.reversed() { scenarios.swapAt(index, random.next(below: index + 1)) }
        for scenario in scenarios.prefix(scenarioCount) {
            time.advance(byMicroseconds: Int64(random.next(below: 3_600)) * Self.second)
            try scenario(self)()
        }
        // From here on a week has passed for what waits for somebody.
        time.advance(byMicroseconds: 8 * Self.day)
        for _ in 0..<3 { try nearlyForgotten() }
        try store.close()
    }

    private static var scenarios: [(TroubleHistory) -> () throws -> Void] {
        [
            lostUpdate, lostByAllKeys, lostWithoutBase, mergedUpdate, currentUpdate, pipelinedUpdates, sameValue,
            changedBack,
            ownUpsert, backAndForth, toggledAlone, wentBack, countedInTurns, cascade, plainDeletion,
            zoneWithRecords,
            emptyZone, massDeletion, fewDeletions, slowDeletions, smallShare, endedShare, removedMember, leavingMember,
            unsharedChild, deletedChild, shareWithoutMembers, conflict, expiredToken, refreshedToken, forgottenDevice,
            unheardSubscription, unmatchedSubscription, ignoredInvitation, acceptedInvitation, standingClock,
            restingClock, lookAlikes, mixedWord, cyrillicWord,
        ]
    }

    func expect(_ kind: Finding.Kind, _ name: String, at offset: UInt64? = nil) {
        expected.append(Expected(kind: kind, offset: offset, name: name))
    }

    // MARK: Requests

    func fresh(_ noun: String) -> String {
        number += 1
        return "\(noun)-\(number)"
    }

    func pass() { time.advance(byMicroseconds: Self.second + Int64(random.next(below: 1_000_000))) }

    @discardableResult
    func modify(_ request: Request, as actor: Actor) throws -> UInt64 {
        pass()
        for result in try store.modify(request, as: actor).result.saves { _ = try result.get() }
        return store.offset
    }

    func zone(as actor: Actor? = nil) throws -> ZoneID {
        let zone = ZoneID(fresh("Zone"))
        try modify(.zones(saving: [zone]), as: actor ?? phone)
        return zone
    }

    @discardableResult
    func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?>, in zone: ZoneID, base: Version? = nil,
        _ policy: SavePolicy = .changedKeys, parent: RequestBuilder.LinkedName = .kept, as actor: Actor? = nil
    ) throws -> Version {
        var builder = RequestBuilder(home, policy: policy)
        builder.save(RecordID(name, zone: zone), type: "Item", base: base, parent: parent, fields: fields)
        try modify(builder.request, as: actor ?? phone)
        return try store.snapshot().record(RecordID(name, zone: zone), in: home, as: actor ?? phone).version
    }

    @discardableResult
    func delete(_ names: [String], in zone: ZoneID, as actor: Actor? = nil) throws -> UInt64 {
        var builder = RequestBuilder(home)
        for name in names { builder.delete(RecordID(name, zone: zone)) }
        return try modify(builder.request, as: actor ?? phone)
    }
}
