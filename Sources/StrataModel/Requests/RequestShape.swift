/// The parts of a request that the events of its commit do not contain (docs/format.md §20).
///
/// The events of a request for records are the request, except for the items without an event. Requests of other kinds
/// are kept whole.
package struct RequestShape: Sendable, Hashable {
    package static let version: UInt8 = 1

    package typealias Kind = Request.Kind

    package enum List: UInt8, Sendable, CaseIterable {
        case saves, deletes
    }

    /// An item without an event.
    package struct LeftOut: Sendable, Hashable {
        package var list: List
        package var index: Int
        /// The refusal of the item; nil if there was nothing to do.
        package var refusal: Refusal?
        /// The version of a zone that needed no save.
        package var version: Version?

        package init(_ list: List, index: Int, refusal: Refusal? = nil, version: Version? = nil) {
            self.list = list
            self.index = index
            self.refusal = refusal
            self.version = version
        }
    }

    /// The change of a share that a save with an event asked for. The event has only the resulting state.
    package struct IndexedShareChange: Sendable, Hashable {
        /// The index of the save.
        package var index: Int
        package var change: ShareChange

        package init(index: Int, change: ShareChange) {
            self.index = index
            self.change = change
        }
    }

    package var kind: Kind
    package var policy: SavePolicy
    package var isAtomic: Bool
    /// The index of the first event that may belong to an item. The events before it are names and first writes.
    package var firstItemEvent: UInt32
    package var saveCount: Int
    package var deleteCount: Int
    package private(set) var leftOut: [LeftOut] = []
    /// The number of records that got a new version without an item, because of a share. Their events follow those of
    /// the saves.
    package var consequenceCount = 0
    package var shareChanges: [IndexedShareChange] = []
    /// The whole request, or of a request for records the items that were left out, in order; nil if there are none, if
    /// the request was too large, and in commits of earlier releases.
    package private(set) var request: Request?
    /// The length of a whole request that was too large to keep.
    package private(set) var bytesNotKept: Int?
    /// True if the shape describes a whole request.
    private var isWhole = false

    package init(
        _ kind: Kind, policy: SavePolicy = .ifServerRecordUnchanged, isAtomic: Bool = false, firstItemEvent: UInt32,
        saveCount: Int, deleteCount: Int
    ) {
        self.kind = kind
        self.policy = policy
        self.isAtomic = isAtomic
        self.firstItemEvent = firstItemEvent
        self.saveCount = saveCount
        self.deleteCount = deleteCount
    }

    /// Keeps the items of a request for records that have no event.
    package mutating func leaveOut(_ items: [LeftOut], request: Request) {
        guard !items.isEmpty else { return }
        leftOut = items
        self.request = request
    }

    /// Keeps a whole request, or only its length if it is larger than 256 KiB.
    package mutating func keep(_ request: Request, leavingOut items: [LeftOut] = []) throws {
        let count = try request.encoded().count
        leftOut = items
        isWhole = true
        (self.request, bytesNotKept) = count > KeptRequest.maximumBytes ? (nil, count) : (request, nil)
    }

    /// The whole request; nil if it was not kept whole.
    package var wholeRequest: Request? { isWhole ? request : nil }

    /// Returns true if the shape can be that of a request.
    package func fits(_ request: Request) -> Bool {
        guard kind == request.content.kind else { return false }
        guard case .modifyRecords(let body) = request.content else { return true }
        return saveCount == body.saves.count && deleteCount == body.deletes.count
    }

    /// Replaces the items that were left out by others in the same number and order.
    mutating func replaceRequest(_ request: Request) { self.request = request }

    package func encoded() throws -> [UInt8] {
        var writer = ByteWriter(reserving: 16)
        writer.append(Self.version)
        writer.append(kind.rawValue)
        let hasShares = consequenceCount > 0 || !shareChanges.isEmpty
        let keeping: UInt8 = isWhole ? bytesNotKept == nil ? 16 : 32 : 0
        writer.append(policy.rawValue | (isAtomic ? 4 : 0) | (hasShares ? 8 : 0) | keeping)
        writer.appendVarint(UInt64(firstItemEvent))
        writer.appendVarint(UInt64(saveCount))
        writer.appendVarint(UInt64(deleteCount))
        if hasShares {
            writer.appendVarint(UInt64(consequenceCount))
            try writer.appendList(shareChanges) { item, writer in
                writer.appendVarint(UInt64(item.index))
                try writer.appendMeasured { try item.change.encode(into: &$0) }
            }
        }
        writer.appendVarint(UInt64(leftOut.count))
        for item in leftOut {
            writer.append(item.list.rawValue)
            writer.appendVarint(UInt64(item.index))
            writer.appendVarint(item.refusal?.code.rawValue ?? 0)
            writer.appendVersion(item.version ?? item.refusal?.serverVersion)
            writer.append(item.refusal?.didResetEncryptedData == true ? 1 : 0 as UInt8)
            writer.appendString(item.refusal?.message ?? "")
        }
        if let bytesNotKept { writer.appendVarint(UInt64(bytesNotKept)) }
        try request?.encode(into: &writer)
        return writer.bytes
    }

    package init(decoding bytes: ArraySlice<UInt8>) throws {
        self = try bytes.reading { try RequestShape(from: &$0) }
    }

    private init(from reader: inout ByteReader) throws {
        let version = try reader.read(UInt8.self, "a shape's version")
        guard version == Self.version else { throw StrataError.newer("a shape's version", version, reader) }
        let kind: Kind = try reader.readNumbered("a shape's kind")
        let flags = try reader.read(UInt8.self, "a shape's flags")
        guard flags < (kind == .modifyRecords ? 16 : 48), let policy = SavePolicy(rawValue: flags & 3) else {
            throw StrataError.newer("a shape's flags", flags, reader)
        }
        let first = try reader.readVarint("a shape's first event", atMost: Envelope.maximumEventCount)
        self.init(
            kind, policy: policy, isAtomic: flags & 4 != 0, firstItemEvent: UInt32(first),
            saveCount: Int(try reader.readVarint("the number of saves", atMost: Request.maximumCount)),
            deleteCount: Int(try reader.readVarint("the number of deletes", atMost: Request.maximumCount)))
        if flags & 8 != 0 {
            consequenceCount = Int(try reader.readVarint("the number of consequences", atMost: Request.maximumCount))
            shareChanges = try reader.readList("the changes of shares") { try IndexedShareChange(from: &$0) }
            guard consequenceCount > 0 || !shareChanges.isEmpty else {
                throw reader.malformed("the changes of shares", expected: "left out when there are none")
            }
        }
        leftOut = try reader.readList("the items that were left out") { try LeftOut(from: &$0) }
        isWhole = flags >= 16 || kind == .joinShares && !leftOut.isEmpty
        if flags & 32 != 0 {
            bytesNotKept = Int(try reader.readVarint("a request's length", atMost: UInt64(Int32.max)))
        }
        guard flags & 16 != 0 || bytesNotKept == nil && !leftOut.isEmpty else {
            try reader.expectEnd("a shape")
            return
        }
        request = try Request(decoding: reader.readRemainingBytes())
    }
}

extension RequestShape.IndexedShareChange {
    fileprivate init(from reader: inout ByteReader) throws {
        index = Int(try reader.readVarint("an item's index", atMost: Request.maximumCount))
        let length = try reader.readVarint("the length of a share's change")
        var body = try reader.readReader(count: length, "a share's change")
        change = try ShareChange(from: &body)
        try body.expectEnd("a share's change")
    }
}

extension RequestShape.LeftOut {
    fileprivate init(from reader: inout ByteReader) throws {
        let number = try reader.read(UInt8.self, "an item's list")
        guard let list = RequestShape.List(rawValue: number) else {
            throw reader.malformed("an item's list", expected: "0 or 1", found: "\(number)")
        }
        self.init(list, index: Int(try reader.readVarint("an item's index", atMost: Request.maximumCount)))
        let code = try reader.readVarint("an item's error")
        let version = try reader.readVersion("an item's version")
        let flags = try reader.read(UInt8.self, "an item's flags")
        guard flags < 2 else { throw StrataError.newer("an item's flags", flags, reader) }
        let message = try reader.readString("a message", atMost: RequestRefusedEvent.maximumMessageBytes)
        if code == 0 {
            self.version = version
        } else {
            refusal = Refusal(
                Refusal.Code(rawValue: code), message, serverVersion: version, didResetEncryptedData: flags == 1)
        }
    }
}
