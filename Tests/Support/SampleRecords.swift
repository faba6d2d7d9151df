import StrataModel

/// Values, events and states of records of every shape, the same for the same seed.
///
/// ```swift
/// var sample = SampleRecords(seed: 7)
/// let event = try sample.nextEvent(.create)
/// ```
package struct SampleRecords: Sendable {
    package var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    /// A number of any length in bits.
    package mutating func nextNumber() -> UInt64 { generator.next() >> UInt64(generator.next(below: 64)) }

    package mutating func nextText(atMost count: Int = 20) -> String {
        let letters = Array("abc xyz-ABC ëü\u{301}👩‍👧\u{0}\"")
        return String((0..<generator.next(below: count + 1)).map { _ in letters[generator.next(below: letters.count)] })
    }

    package mutating func nextDouble() -> Double {
        switch generator.next(below: 4) {
        case 0: Double(Int64(truncatingIfNeeded: nextNumber() >> 40))
        case 1: [0, -0.0, .nan, .infinity, -.infinity, .signalingNaN, 1, -1][generator.next(below: 8)]
        case 2: Double(bitPattern: 0x7FF0_0000_0000_0000 | nextNumber())
        default: Double(bitPattern: generator.next())
        }
    }

    package mutating func nextKey() -> RecordKey { RecordKey(zone: nextNumber(), name: nextText()) }

    package mutating func nextVersion() -> Version { Version(packed: nextNumber() >> 1 | 1 << 20) }

    package mutating func nextScalar(_ kind: Int) -> FieldValue {
        switch kind {
        case 0: .string(nextText())
        case 1: .int64(Int64(bitPattern: nextNumber()) &* (generator.next(below: 2) == 0 ? 1 : -1))
        case 2: .double(nextDouble())
        case 3: .date(nextDouble())
        case 4: .data(generator.nextBytes(generator.next(below: 300)))
        case 5:
            .location(
                .init(
                    latitude: nextDouble(), longitude: nextDouble(), altitude: nextDouble(), course: nextDouble(),
                    speed: generator.next(below: 2) == 0 ? -1 : 3, timestamp: nextDouble()))
        case 6: .reference(.init(nextKey(), action: generator.next(below: 2) == 0 ? .none : .deleteSelf))
        default:
            .asset(
                .init(
                    hash: ContentHash(first: UInt128(generator.next()) << 64, second: UInt128(generator.next())),
                    size: nextNumber()))
        }
    }

    package mutating func nextValue() throws -> FieldValue {
        let kind = generator.next(below: 8)
        switch generator.next(below: 6) {
        case 0: return .list(try FieldList((0..<generator.next(below: 5)).map { _ in nextScalar(kind) }))
        case 1:
            return .sealed(
                .init(
                    keyID: nextNumber(), nonce: generator.nextBytes(24),
                    ciphertext: generator.nextBytes(generator.next(below: 40))))
        default: return nextScalar(kind)
        }
    }

    /// Some of the fields 1 to 300, in order.
    package mutating func nextFields(removing: Bool = false) throws -> [FieldChange] {
        var field: UInt32 = 0
        return try (0..<generator.next(below: 12)).map { _ in
            field += 1 + UInt32(generator.next(below: 30))
            return FieldChange(field, removing && generator.next(below: 4) == 0 ? nil : try nextValue())
        }
    }

    private mutating func nextLink(removing: Bool) -> LinkChange {
        switch generator.next(below: 4) {
        case 0: .set(nextKey())
        case 1: removing ? .removed : .kept
        default: .kept
        }
    }

    package mutating func nextEvent(
        _ change: RecordSavedEvent.Change, isFull: Bool = false, previous: Version? = nil
    ) throws -> RecordSavedEvent {
        let isFull = isFull || change == .create
        var event = RecordSavedEvent(change, nextKey(), type: nextNumber(), previous: previous)
        event.isFull = isFull
        event.policy = SavePolicy.allCases[generator.next(below: 3)]
        event.base = [nil, previous, nextVersion()][generator.next(below: 3)]
        if generator.next(below: 4) == 0 { event.modified = Int64(bitPattern: generator.next()) }
        if generator.next(below: 4) == 0 { event.modifiedBy = nextNumber() }
        if generator.next(below: 4) == 0 { event.modifiedWith = 0 }
        if generator.next(below: 8) == 0 {
            let original = nextVersion()
            event.original = original
            event.eventsSinceFull = Int(original.eventIndex) % (RecordHeader.maximumEventsSinceFull + 1)
        }
        if isFull, change != .create || generator.next(below: 2) == 0 {
            event.created = Int64(bitPattern: nextNumber())
            event.createdBy = nextNumber()
        }
        event.parent = nextLink(removing: !isFull)
        if case .set = event.parent { event.isParentLoose = generator.next(below: 3) == 0 }
        event.share = nextLink(removing: !isFull)
        event.fields = try nextFields(removing: !isFull)
        return event
    }

    package mutating func nextState() throws -> RecordState {
        let created = Int64(bitPattern: generator.next())
        var state = RecordState(
            header: RecordHeader(
                version: nextVersion(), type: nextNumber(), created: created, createdBy: nextNumber(),
                modified: created &+ Int64(bitPattern: nextNumber()), modifiedBy: nextNumber(),
                modifiedWith: nextNumber(), eventsSinceFull: generator.next(below: 16),
                contentDigest: UInt128(generator.next()) << 64),
            parent: generator.next(below: 2) == 0 ? nextKey() : nil,
            share: generator.next(below: 3) == 0 ? nextKey() : nil,
            fields: try nextFields().compactMap { change in change.value.map { RecordField(change.field, $0) } })
        state.isParentLoose = state.parent != nil && generator.next(below: 3) == 0
        return state
    }
}
