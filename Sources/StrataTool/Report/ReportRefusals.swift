import StrataLog
import StrataModel
import StrataReplay

/// The places of refusals in a log, limited to the latest.
struct ReportRefusals {
    /// The number of refusals to list; older ones are only counted.
    static let mostTold = 200

    struct Place {
        /// The event of a request that was refused as a whole, or the first one of a commit that accepted the rest.
        let version: Version
        /// True if the other items of the request were accepted.
        var isPartial = false
    }

    private var places = LastItems<Place>(mostTold)

    /// The last refusal first.
    var told: [Place] { places.last.reversed() }
    /// The number of refusals that are not listed.
    var olderCount: Int { places.olderCount }

    mutating func add(requestAt version: Version) { places.append(Place(version: version)) }

    /// - Parameter shape: the encoded shape of a commit's request.
    mutating func add(shape: ArraySlice<UInt8>, at offset: UInt64) {
        guard !shape.isEmpty, let shape = try? RequestShape(decoding: shape) else { return }
        guard shape.leftOut.contains(where: { $0.refusal != nil }) else { return }
        places.append(Place(version: Version(offset: offset, eventIndex: 0), isPartial: true))
    }
}

/// A refused request, or the refused part of one.
struct ReportRefusal {
    /// An item that caused the refusal.
    struct Item {
        let list: RequestShape.List
        /// Nil if the request is not recorded.
        let target: Target?
        let code: UInt64
        /// The version in the store.
        let stored: Version?
    }

    /// The record, zone or subscription of an item of a request.
    struct Target {
        /// The name of a record, a zone or a subscription.
        let name: String
        /// The name of a record's zone.
        private(set) var zone: String?
        /// The database of a record; without an owner, the actor's own.
        private(set) var database: DatabaseID?
        /// The version that the client had seen.
        private(set) var base: Version?
        /// The sent keys and values; nil removes a key.
        private(set) var fields: [(key: String, value: FieldValue?)] = []

        fileprivate init?(_ list: RequestShape.List, _ index: Int, of request: Request?) {
            guard let request, let item = request.item(list, index) else { return nil }
            let zone = item.zone.map { request.names.zone($0)?.name ?? "zone \($0)" }
            name = item.name ?? zone ?? ""
            guard case .modifyRecords(let body) = request.content else { return }
            (self.zone, database) = (zone, request.database)
            guard item.list == .saves else { return }
            base = body.saves[item.index].base
            fields = body.saves[item.index].fields.map {
                (request.names.key($0.field) ?? "field \($0.field)", $0.value)
            }
        }
    }

    let version: Version
    let time: Int64
    let header: EnvelopeHeader
    /// Nil if the rest of the request was accepted.
    let code: UInt64?
    let message: String
    let items: [Item]
    /// The length of a request that was not kept; 0 if it was, or if that is not recorded.
    private(set) var bytesNotKept: UInt64 = 0

    /// The state that the request was judged on, in words; nil if a commit tells it.
    var stateText: String? {
        if let offset = header.judgedOn { return "judged on the state at \(offset)" }
        return code == nil ? nil : "state not recorded"
    }

    /// The words for an actor without a user; nil for a user.
    var unnamedActorText: String? {
        let isRecorded = header.user != 0 || header.actorKind != nil || code == nil
        return isRecorded ? header.unnamedActorText : "actor not recorded"
    }

    /// True if the request would have overwritten changes that the client had not seen.
    var isConflict: Bool {
        let conflict = Refusal.Code.serverRecordChanged.rawValue
        return code == conflict || items.contains { $0.code == conflict }
    }

    /// Returns nil if the refusal cannot be read.
    init?(_ place: ReportRefusals.Place, in reader: LogReader) {
        guard let commit = (try? reader.commit(at: place.version.offset)) ?? nil,
            let envelope = try? Envelope(decoding: commit.payload)
        else { return nil }
        (version, time, header) = (place.version, commit.time, envelope.header)
        if place.isPartial {
            guard let shape = try? RequestShape(decoding: header.requestShape) else { return nil }
            (code, message, items) = (nil, "", Self.items(leftOut: shape))
        } else {
            guard Int(version.eventIndex) < envelope.events.count,
                let event = try? RequestRefusedEvent(decoding: envelope.events[Int(version.eventIndex)].body)
            else { return nil }
            (code, message, bytesNotKept) = (event.code, event.message ?? "", event.kept.byteCount)
            let request = event.request.flatMap { try? Request(decoding: $0[...]) }
            items = event.culprits.map { culprit in
                let list: RequestShape.List = culprit.list == .saves ? .saves : .deletes
                let target = Target(list, Int(clamping: culprit.index), of: request)
                return Item(list: list, target: target, code: culprit.code, stored: culprit.version)
            }
        }
    }

    private static func items(leftOut shape: RequestShape) -> [Item] {
        // A request for records contains only the omitted items, so indices count only those.
        var (saveCount, deleteCount) = (0, 0)
        return shape.leftOut.compactMap { item in
            let count = item.list == .saves ? saveCount : deleteCount
            let index = shape.wholeRequest == nil ? count : item.index
            if item.list == .saves { saveCount += 1 } else { deleteCount += 1 }
            guard let refusal = item.refusal else { return nil }
            return Item(
                list: item.list, target: Target(item.list, index, of: shape.request), code: refusal.code.rawValue,
                stored: item.version ?? refusal.serverVersion)
        }
    }
}
