import StrataLog
import StrataModel

/// The places of refusals in a log, limited to the latest.
struct ReportRefusals {
    /// The number of refusals to list; older ones are only counted.
    static let mostTold = 200

    enum Place {
        /// A request that was refused as a whole.
        case event(Version)
        /// The refused items of a request whose other items were accepted.
        case rest(ofCommit: UInt64)
    }

    private var places: [Place] = []
    private var droppedCount = 0

    /// The last refusal first.
    var told: [Place] { places.suffix(Self.mostTold).reversed() }
    /// The number of refusals that are not listed.
    var olderCount: Int { droppedCount + max(0, places.count - Self.mostTold) }

    mutating func add(requestAt version: Version) { add(.event(version)) }

    /// - Parameter shape: the encoded shape of a commit's request.
    mutating func add(shape: ArraySlice<UInt8>, at offset: UInt64) {
        guard !shape.isEmpty, let shape = try? RequestShape(decoding: shape) else { return }
        if shape.leftOut.contains(where: { $0.refusal != nil }) { add(.rest(ofCommit: offset)) }
    }

    private mutating func add(_ place: Place) {
        places.append(place)
        guard places.count > Self.mostTold * 8 else { return }
        droppedCount += places.count - Self.mostTold
        places.removeFirst(places.count - Self.mostTold)
    }
}

/// A refused request, or the refused part of one.
struct ReportRefusal {
    /// An item that caused the refusal.
    struct Item {
        let act: String
        /// Nil if the request was not kept.
        let target: RequestItems.Target?
        let code: UInt64
        /// The version in the store.
        let stored: Version?
    }

    let version: Version
    let time: Int64
    let header: EnvelopeHeader
    /// Nil if the rest of the request was accepted.
    let code: UInt64?
    let message: String
    let items: [Item]

    /// True if the request would have overwritten changes that the client had not seen.
    var isConflict: Bool {
        let conflict = Refusal.Code.serverRecordChanged.rawValue
        return code == conflict || items.contains { $0.code == conflict }
    }

    /// Returns nil if the refusal cannot be read.
    init?(_ place: ReportRefusals.Place, in reader: LogReader) {
        let offset =
            switch place {
            case .event(let version): version.offset
            case .rest(let offset): offset
            }
        guard let commit = (try? reader.commit(at: offset)) ?? nil,
            let envelope = try? Envelope(decoding: commit.payload)
        else { return nil }
        (time, header) = (commit.time, envelope.header)
        switch place {
        case .event(let version):
            guard Int(version.eventIndex) < envelope.events.count,
                let event = try? RequestRefusedEvent(decoding: envelope.events[Int(version.eventIndex)].body)
            else { return nil }
            self.version = version
            (code, message) = (event.code, event.message ?? "")
            let request = event.request.flatMap { try? Request(decoding: $0[...]) }.map { RequestItems($0) }
            items = event.culprits.map { culprit in
                let isSave = culprit.list == .saves
                return Item(
                    act: isSave ? "save" : "delete",
                    target: request?.target(isSave: isSave, Int(clamping: culprit.index)), code: culprit.code,
                    stored: culprit.version)
            }
        case .rest:
            guard let shape = try? RequestShape(decoding: envelope.header.requestShape) else { return nil }
            version = Version(offset: offset, eventIndex: 0)
            (code, message) = (nil, "")
            items = Self.items(leftOut: shape)
        }
    }

    private static func items(leftOut shape: RequestShape) -> [Item] {
        let request = shape.request.map { RequestItems($0) }
        // The request contains only the omitted items, so indices count only those.
        var (saveCount, deleteCount) = (0, 0)
        return shape.leftOut.compactMap { item in
            let isSave = item.list == .saves
            defer { if isSave { saveCount += 1 } else { deleteCount += 1 } }
            guard let refusal = item.refusal else { return nil }
            return Item(
                act: isSave ? "save" : "delete",
                target: request?.target(isSave: isSave, isSave ? saveCount : deleteCount), code: refusal.code.rawValue,
                stored: item.version ?? refusal.serverVersion)
        }
    }
}

/// Reads the targets of the items in a request.
struct RequestItems {
    struct Target {
        /// The name of a record, a zone or a subscription.
        let name: String
        /// The name of a record's zone.
        var zone: String?
        /// The database of a record; without an owner, the actor's own.
        var database: DatabaseID?
        /// The version that the client had seen.
        var base: Version?
        /// The sent keys and values; nil removes a key.
        var fields: [(key: String, value: FieldValue?)] = []
    }

    private let request: Request

    init(_ request: Request) { self.request = request }

    /// - Parameter index: the index in the list of saves or of deletes.
    func target(isSave: Bool, _ index: Int) -> Target? {
        func item<Element>(_ list: [Element]) -> Element? { list.indices.contains(index) ? list[index] : nil }
        func zone(_ ordinal: UInt64) -> String { request.names.zone(ordinal)?.name ?? "zone \(ordinal)" }
        switch request.content {
        case .modifyRecords(let body):
            let database = request.database
            guard isSave else {
                return item(body.deletes).map { Target(name: $0.name, zone: zone($0.zone), database: database) }
            }
            return item(body.saves).map { save in
                let fields = save.fields.map { (request.names.key($0.field) ?? "field \($0.field)", $0.value) }
                return Target(
                    name: save.record.name, zone: zone(save.record.zone), database: database, base: save.base,
                    fields: fields)
            }
        case .modifyZones(let body):
            let ordinal = isSave ? item(body.saves)?.zone : item(body.deletes)
            return ordinal.map { Target(name: zone($0)) }
        case .modifySubscriptions(let body):
            return (isSave ? item(body.saves)?.id : item(body.deletes)).map { Target(name: $0) }
        case .joinShares(let body): return item(body.tokens).map { Target(name: $0) }
        case .administer, .declareSchema, .notify: return nil
        }
    }
}
