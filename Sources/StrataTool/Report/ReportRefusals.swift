import StrataLog
import StrataModel

/// Where refusals are in a log, the last of so many at most.
struct ReportRefusals {
    /// Older ones are only counted.
    static let mostTold = 200

    enum Place {
        /// Of a request of which nothing was done.
        case event(Version)
        /// Items of a request whose other items were done.
        case rest(ofCommit: UInt64)
    }

    private var places: [Place] = []
    private var droppedCount = 0

    /// The last one first.
    var told: [Place] { places.suffix(Self.mostTold).reversed() }
    /// How many are not told.
    var olderCount: Int { droppedCount + max(0, places.count - Self.mostTold) }

    mutating func add(requestAt version: Version) { add(.event(version)) }

    /// - Parameter shape: of a commit's request, encoded.
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

/// A request, or a part of one, that was refused.
struct ReportRefusal {
    /// An item that was the cause.
    struct Item {
        let act: String
        /// Nil where the request was not kept.
        let target: RequestItems.Target?
        let code: UInt64
        /// What the store had of it.
        let stored: Version?
    }

    let version: Version
    let time: Int64
    let header: EnvelopeHeader
    /// Nil where the rest of the request was done.
    let code: UInt64?
    let message: String
    let items: [Item]

    /// Whether somebody would have overwritten what they had not seen.
    var isConflict: Bool {
        let conflict = Refusal.Code.serverRecordChanged.rawValue
        return code == conflict || items.contains { $0.code == conflict }
    }

    /// Nil for one that cannot be read.
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
        // The request has only what was left out, so that places count from there.
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

/// What the items of a request name.
struct RequestItems {
    struct Target {
        /// Of a record, a zone or a subscription.
        let name: String
        /// Name of a record's zone.
        var zone: String?
        /// Of a record; without an owner that of who asks.
        var database: DatabaseID?
        /// What the client had seen.
        var base: Version?
        /// Keys with what was sent; nil to remove it.
        var fields: [(key: String, value: FieldValue?)] = []
    }

    private let request: Request

    init(_ request: Request) { self.request = request }

    /// - Parameter index: of the list of saves or of deletes.
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
        case .administer, .declareSchema, .notify: return nil
        }
    }
}
