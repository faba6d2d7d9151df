import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// Tests whether a breakpoint stops at a commit.
struct BreakpointMatcher {
    private let breakpoint: Breakpoint
    private let store: Store
    private let users: Set<UInt64>?
    private let devices: Set<UInt64>?
    private let zones: Set<UInt64>?
    private let types: Set<UInt64>?
    private let field: UInt32?
    private let record: [UInt8]?

    /// - Throws: ``Refusal`` for a name that the store never had.
    init(_ breakpoint: Breakpoint, _ store: Store, _ names: NameTable) throws {
        (self.breakpoint, self.store) = (breakpoint, store)
        let isSystem = breakpoint.user.map { isSameText($0, Breakpoint.systemName) } ?? false
        users = isSystem ? [0] : try names.ordinals(of: breakpoint.user, .user)
        devices = try names.ordinals(of: breakpoint.device, .device)
        types = try names.ordinals(of: breakpoint.type, .recordType)
        field = try names.ordinals(of: breakpoint.field, .field)?.first.map { UInt32($0) }
        zones = try names.zones(named: breakpoint.zone, owner: breakpoint.owner).map { Set($0) }
        record = breakpoint.record.map { Array($0.utf8) }
    }

    func fits(_ commit: Commit) throws -> Bool {
        do {
            return try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                if users != nil || devices != nil, try !fits(walker.header()) { return false }
                guard breakpoint.asksEvents else { return true }
                while let event = try walker.next() {
                    let body = UnsafeRawBufferPointer(rebasing: payload[event.body])
                    let isFound =
                        breakpoint.isRefusal
                        ? try event.kind == .requestRefused && fits(refusal: body, walker)
                        : try fits(event.kind, body, in: commit.offset)
                    if isFound { return true }
                }
                return false
            }
        } catch let error as StrataError { throw error.located(offset: commit.offset) }
    }

    private func fits(_ header: EnvelopeHeader) -> Bool {
        (users?.contains(header.user) ?? true) && (devices?.contains(header.device) ?? true)
    }

    // MARK: Events

    private func fits(_ kind: EventKind, _ body: UnsafeRawBufferPointer, in offset: UInt64) throws -> Bool {
        switch kind {
        case .recordSaved, .recordDeleted, .recordErased:
            let event = try RecordEvent(kind, body)
            if let zones, !zones.contains(event.zone) { return false }
            if let types, !types.contains(event.type) { return false }
            if let record, !event.nameBytes.elementsEqual(record) { return false }
            guard try event.changesRecord else { return false }
            guard let field else { return true }
            return try kind == .recordSaved && changes(field, event.saved(), in: offset)
        case .zoneSaved, .zoneDeleted:
            guard let zones, record == nil, types == nil, field == nil else { return false }
            var reader = ByteReader(body)
            return zones.contains(try reader.readEventZone())
        default: return false
        }
    }

    /// Returns true if a save gives the field another value. Full events name every field, and a client may send an
    /// unchanged value.
    private func changes(_ field: UInt32, _ view: RecordSavedView, in offset: UInt64) throws -> Bool {
        let fields = try view.fields
        let hasEntry = fields.index(of: field) != nil
        if view.change == .create { return hasEntry }
        guard hasEntry || view.isFull, !view.isErased else { return false }
        let saved = try view.decoded()
        let after = saved.fields.first { $0.field == field }?.value
        guard let previous = saved.previous?.resolved(in: offset),
            let state = try store.past.record(saved.record, at: previous)
        else { return hasEntry }
        let before = try RecordState(decoding: state[...]).fields.first { $0.field == field }?.value
        return before != after
    }

    // MARK: Refusals

    private func fits(refusal body: UnsafeRawBufferPointer, _ walker: EventWalker) throws -> Bool {
        guard breakpoint.asksPlaces else { return true }
        let refused = try RequestRefusedEvent(decoding: ArraySlice(body))
        // A request that was too large to keep cannot be matched.
        guard let bytes = refused.request else { return false }
        let request = try Request(decoding: bytes[...])
        if let owner = breakpoint.owner {
            guard request.database.scope != .public else { return false }
            let asked = request.database.owner
            let actual = asked.isEmpty ? try name(ofUser: walker.header().user) : asked
            guard isSameText(actual, owner) else { return false }
        }
        return request.hasItem(
            zone: breakpoint.zone, record: breakpoint.record, type: breakpoint.type, field: breakpoint.field)
    }

    private func name(ofUser ordinal: UInt64) throws -> String {
        try store.snapshot().trees.user(ordinal) ?? ""
    }

    // MARK: Candidates

    /// The maximum number of change lists read side by side; if there are more, all commits are read.
    private static let maximumLists = 64

    /// Returns the change lists that have every commit that may match; nil if all commits have to be read.
    func subject(_ names: NameTable) -> TouchedCommits.Subject? {
        guard !breakpoint.isRefusal, zones != nil || breakpoint.record != nil else { return nil }
        let wanted = zones.map { $0.sorted() } ?? names.names(in: .zone).map(\.ordinal)
        guard wanted.count <= Self.maximumLists else { return nil }
        return breakpoint.record.map { .record($0, zones: wanted) } ?? .zones(wanted)
    }

    /// True if an entry in a change list is enough for a commit to match.
    var isDecidedByLists: Bool { users == nil && devices == nil && types == nil && field == nil }
}
