import StrataLog
import StrataModel

/// The parts of a commit that its request is read from: the shape, the names that it interned, and of a request for
/// records the events that came from its items.
final class ItemEvents {
    let header: EnvelopeHeader
    let shape: RequestShape
    let offset: UInt64
    /// The names that the commit interned.
    private(set) var names: [InternedName] = []
    var saves: [RecordSavedEvent] = []
    private(set) var deletes: [RecordKey] = []
    private(set) var clientToken: [UInt8]?
    /// True if the commit states the rules by which it was judged.
    private(set) var statesRules = false

    /// Returns nil for a commit without a request.
    static func read(_ commit: Commit) throws -> ItemEvents? {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            guard !header.requestShape.isEmpty else { return nil }
            let events = ItemEvents(header, try RequestShape(decoding: header.requestShape), offset: commit.offset)
            var index = 0
            while let event = try walker.next() {
                var body = ByteReader(UnsafeRawBufferPointer(rebasing: payload[event.body]))
                try events.add(event.kind, &body, isOfItem: index >= Int(events.shape.firstItemEvent))
                index += 1
            }
            try events.dropConsequences()
            return events
        }
    }

    private init(_ header: EnvelopeHeader, _ shape: RequestShape, offset: UInt64) {
        self.header = header
        self.shape = shape
        self.offset = offset
    }

    private func add(_ kind: EventKind, _ body: inout ByteReader, isOfItem: Bool) throws {
        func read<Event: EventBody>(_: Event.Type) throws -> Event {
            let event = try Event(from: &body)
            try body.expectEnd("an event")
            return event
        }
        switch kind {
        case .nameInterned: names.append(try InternedName(decoding: body.readRemainingBytes()))
        case .rulesStated: statesRules = true
        case _ where !isOfItem || shape.kind != .modifyRecords: break
        case .recordSaved:
            let saved = try read(RecordSavedEvent.self)
            guard !saved.isErased else {
                throw StrataError(
                    .erased, "A value saved by the request has been erased, so the request cannot be rebuilt.",
                    .init(offset: offset))
            }
            if saved.change != .touch { saves.append(saved) }
        case .recordDeleted:
            let deleted = try read(RecordDeletedEvent.self)
            if !deleted.isCascade { deletes.append(deleted.record) }
        case .clientTokenKept: clientToken = try read(ClientTokenEvent.self).token
        default: break
        }
    }

    /// Drops the new versions of records that no item saved.
    private func dropConsequences() throws {
        guard shape.kind == .modifyRecords, shape.consequenceCount > 0 else { return }
        guard shape.consequenceCount <= saves.count else {
            throw RequestResult.mismatch(offset, "\(saves.count) saves and \(shape.consequenceCount) consequences")
        }
        saves.removeLast(shape.consequenceCount)
    }

    /// Returns the items of a list in the order of the request: those of events, and between them those left out.
    func items<Event, Item>(
        _ list: RequestShape.List, _ events: [Event], _ leftOut: [Item], _ item: (Event) throws -> Item
    ) throws -> [Item] {
        let count = list == .saves ? shape.saveCount : shape.deleteCount
        if shape.leftOut.isEmpty, leftOut.isEmpty, events.count == count { return try events.map(item) }
        let places = Set(shape.leftOut.filter { $0.list == list }.map(\.index))
        guard places.count == leftOut.count, events.count + leftOut.count == count, places.allSatisfy({ $0 < count })
        else {
            throw RequestResult.mismatch(
                offset, "\(events.count) events and \(leftOut.count) omitted items for \(count) \(list)")
        }
        var (nextEvent, nextLeftOut) = (events.makeIterator(), leftOut.makeIterator())
        var items: [Item] = []
        for index in 0..<count {
            if places.contains(index) {
                if let left = nextLeftOut.next() { items.append(left) }
            } else if let event = nextEvent.next() {
                items.append(try item(event))
            }
        }
        return items
    }
}

extension RecordSavedEvent {
    /// True if the event says what the record became rather than what was sent.
    var hidesWhatWasAsked: Bool { isFull && change == .update }

    /// Removes unchanged values from a full event: a request for the rest alone has the same result. The looseness of a
    /// link changes only if a request sets it.
    mutating func reduce(to before: RecordState) {
        let stored = Dictionary(before.fields.map { ($0.field, $0.value) }) { $1 }
        let kept = Set(fields.map(\.field))
        fields.removeAll { FieldValue.isSame($0.value, stored[$0.field]) }
        fields += before.fields.filter { !kept.contains($0.field) }.map { FieldChange($0.field, nil) }
        fields.sort { $0.field < $1.field }
        if isParentLoose == before.isParentLoose { parent = Self.asked(parent, before.parent) }
        share = Self.asked(share, before.share)
    }

    private static func asked(_ link: LinkChange, _ before: RecordKey?) -> LinkChange {
        switch link {
        case .set(let target): target == before ? .kept : link
        case .kept, .removed: before == nil ? .kept : .removed
        }
    }
}
