import StrataModel
import TestSupport
import Testing

@Suite("Merging saves into states")
struct RecordMergerTests {
    private static let place = EventPlace(
        version: Version(offset: 9, eventIndex: 1), time: 5_000, user: 7, device: 8)

    private func apply(
        _ event: RecordSavedEvent, to state: RecordState?, at place: EventPlace = place
    ) throws -> RecordState {
        var merger = RecordMerger()
        var (before, after) = (ByteWriter(), ByteWriter())
        try state?.encode(into: &before)
        let body = try event.event().body
        try body.withUnsafeBytes { body in
            let view = try RecordSavedView(body, in: 0..<body.count)
            try before.bytes.withUnsafeBytes { bytes in
                try merger.apply(view, at: place, to: state == nil ? nil : bytes, into: &after)
            }
        }
        return try RecordState(decoding: after.bytes[...])
    }

    /// The rules of docs/format.md §17 over plain values.
    private func expected(_ event: RecordSavedEvent, _ old: RecordState?) -> RecordState {
        let place = Self.place
        let kept = event.change == .touch ? old?.header : nil
        let modified = event.modified ?? kept?.modified ?? place.time
        let modifiedBy = event.modifiedBy ?? kept?.modifiedBy ?? place.user
        var fields =
            event.isFull ? [:] : Dictionary(uniqueKeysWithValues: (old?.fields ?? []).map { ($0.field, $0.value) })
        for change in event.fields { fields[change.field] = change.value }
        func link(_ change: LinkChange, _ kept: RecordKey?) -> RecordKey? {
            switch change {
            case .kept: event.isFull ? nil : kept
            case .removed: nil
            case .set(let key): key
            }
        }
        var state = RecordState(
            header: RecordHeader(
                version: event.original ?? place.version, type: event.type,
                created: event.created ?? old?.header.created ?? modified,
                createdBy: event.createdBy ?? old?.header.createdBy ?? modifiedBy, modified: modified,
                modifiedBy: modifiedBy, modifiedWith: event.modifiedWith ?? kept?.modifiedWith ?? place.device,
                eventsSinceFull: event.original != nil
                    ? event.eventsSinceFull : event.isFull ? 0 : (old?.header.eventsSinceFull ?? 0) + 1),
            parent: link(event.parent, old?.parent), share: link(event.share, old?.share),
            fields: fields.sorted { $0.key < $1.key }.map { RecordField($0.key, $0.value) })
        state.isParentLoose =
            event.parent == .kept ? state.parent != nil && old?.isParentLoose == true : event.isParentLoose
        return state
    }

    @Test("Any event onto any state gives what the rules say")
    func anything() throws {
        try withSeeds(500) { seed in
            var sample = SampleRecords(seed: seed)
            var state = try sample.nextState()
            state.header.eventsSinceFull %= 15
            let changes = RecordSavedEvent.Change.allCases
            let change = changes[sample.generator.next(below: 3)]
            let old = change == .create ? nil : state
            let isFull = sample.generator.next(below: 4) == 0
            var event = try sample.nextEvent(change, isFull: isFull, previous: old?.header.version)
            event.type = state.header.type
            try #require(try apply(event, to: old) == expected(event, old))
        }
    }

    @Test("Values of kinds of later versions are carried along")
    func unknownValues() throws {
        var merger = RecordMerger()
        var first = ByteWriter()
        // A creation with one field of kind 9, then an update of another field.
        let created = hex("01 01 01 61 10 00 00 01 11 01 02 09aa")
        try created.withUnsafeBytes {
            try merger.apply(try RecordSavedView($0, in: 0..<$0.count), at: Self.place, to: nil, into: &first)
        }
        let event = RecordSavedEvent(
            .update, RecordKey(zone: 1, name: "a"), type: 1, previous: Self.place.version,
            fields: [FieldChange(2, .int64(1))])
        var (second, place) = (ByteWriter(), Self.place)
        place.version.offset += 1
        try event.event().body.withUnsafeBytes { body in
            try first.bytes.withUnsafeBytes { state in
                try merger.apply(
                    try RecordSavedView(body, in: 0..<body.count), at: place, to: state, into: &second)
            }
        }
        #expect(hexText(second.bytes.suffix(10)) == "02110102020409aa0202")
    }

    @Test("An event that does not fit the state is refused")
    func misfits() throws {
        var sample = SampleRecords(seed: 1)
        var state = try sample.nextState()
        (state.header.eventsSinceFull, state.header.type) = (15, 1)
        let previous = state.header.version
        let key = RecordKey(zone: 1, name: "a")
        let error = { event, state in thrownError { _ = try apply(event, to: state) }?.code }
        #expect(error(RecordSavedEvent(.create, key, type: 1, previous: previous), state) == .malformed)
        #expect(error(RecordSavedEvent(.update, key, type: 1, previous: previous), nil) == .malformed)
        #expect(error(RecordSavedEvent(.touch, key, type: 1, previous: previous), nil) == .malformed)
        #expect(error(RecordSavedEvent(.update, key, type: 1), state) == .brokenSequence)
        #expect(error(RecordSavedEvent(.update, key, type: 1, previous: previous), state) == .malformed)
        state.header.eventsSinceFull = 14
        #expect(error(RecordSavedEvent(.update, key, type: 1, previous: previous), state) == nil)
        #expect(error(RecordSavedEvent(.update, key, type: 2, previous: previous), state) == .brokenSequence)
    }

    @Test("A state has a name that is too long for its key, and is of no other record")
    func longNames() throws {
        for (count, isLong) in [(300, false), (301, true), (4_096, true)] {
            let name = String(repeating: "n", count: count)
            let created = RecordSavedEvent(.create, RecordKey(zone: 1, name: name), type: 1)
            let state = try apply(created, to: nil)
            #expect(state.longName == (isLong ? name : nil))
            let update = RecordSavedEvent(
                .update, RecordKey(zone: 1, name: name), type: 1, previous: state.header.version)
            #expect(try apply(update, to: state).longName == state.longName)
            var other = update
            other.record.name = String(repeating: "m", count: count)
            #expect(thrownError { _ = try apply(other, to: state) }?.code == (isLong ? .malformed : nil))
        }
    }

    @Test("A state that names itself must, and with text")
    func needlessName() throws {
        var sample = SampleRecords(seed: 1)
        var state = try sample.nextState()
        state.longName = String(repeating: "n", count: 300)
        var writer = ByteWriter()
        try state.encode(into: &writer)
        #expect(thrownError { _ = try RecordState(decoding: writer.bytes[...]) }?.code == .malformed)
    }

    @Test("A full event needs no state before it, as in a base")
    func fullWithoutState() throws {
        var event = RecordSavedEvent(.update, RecordKey(zone: 1, name: "a"), type: 1, fields: [.init(3, .int64(4))])
        event.isFull = true
        event.original = Version(offset: 2, eventIndex: 0)
        event.created = 10
        event.createdBy = 3
        event.modified = 20
        let state = try apply(event, to: nil)
        #expect(state == expected(event, nil))
        #expect(state.header.version == event.original && state.header.created == 10)
    }
}
