import Foundation
import StrataModel
import StrataRules
import StrataStore

/// Carries out the steps of a plan through the engine.
struct EngineWriter: Sendable {
    let store: Store
    let content: WriterContent
    /// Where files of assets are made.
    let folder: String

    private var actor: Actor { Actor(user: content.user, device: "d\(content.writer)") }
    private static let own = DatabaseID(.private)

    /// - Returns: the offset of the commit; nil for what makes none of its own.
    func perform(_ step: WriterPlan.Step, number: Int) throws -> UInt64? {
        switch step {
        case .modify(let saves, let deletes): return try modify(saves, deletes, number)
        case .saveZone(let name): return try submit(.zones(saving: [ZoneID(name)]), number)
        case .deleteZone(let name): return try submit(.zones(deleting: [ZoneID(name)]), number)
        case .subscribe(let id):
            var request = Request(database: Self.own, .modifySubscriptions(ModifySubscriptionsRequest()))
            let zone = request.names.ordinal(of: ZoneID(id))
            request.content = .modifySubscriptions(.init(saves: [Subscription(id, .recordZone, zone: zone)]))
            return try submit(request, number)
        case .unsubscribe(let id):
            return try submit(Request(database: Self.own, .modifySubscriptions(.init(deletes: [id]))), number)
        case .increment: return try increment(number)
        default:
            try maintain(step)
            return nil
        }
    }

    /// Whether the store has a request for records that failed; nil if that cannot be told.
    func has(_ step: WriterPlan.Step, number: Int) -> Bool? {
        guard case .modify = step else { return nil }
        let mark = RecordID(WriterPlan.mark, zone: ZoneID("A"))
        guard let result = try? store.snapshot().records([mark], in: Self.own, as: actor)[0] else { return nil }
        guard case .success(let record) = result else { return false }
        return (try? record["number"]) == .int64(Int64(number))
    }

    private func submit(_ request: Request, _ number: Int) throws -> UInt64? {
        let answer = try store.modify(request, as: actor, operation: OperationInfo(id: "\(content.writer)-\(number)"))
        for save in answer.result.saves { _ = try save.get() }
        if let refusal = answer.result.deletes.compactMap({ $0 }).first { throw refusal }
        return answer.offset
    }

    private func modify(_ saves: [WriterPlan.Save], _ deletes: [RecordID], _ number: Int) throws -> UInt64? {
        var builder = RequestBuilder(Self.own, policy: .changedKeys)
        var pins: [PinnedAsset] = []
        for save in saves {
            var asset: FieldValue?
            if let source = save.item.asset {
                let path = "\(folder)/asset-\(content.writer)"
                try Data(content.asset(source)).write(to: URL(fileURLWithPath: path))
                let pin = try store.importAsset(at: path)
                pins.append(pin)
                asset = .asset(pin.value)
            }
            let sealed = try save.item.sealed.map {
                try store.seal(.string(content.sealed($0)), for: "sealed", of: save.id, in: Self.own, as: actor)
            }
            let link = save.item.link.map {
                builder.reference(to: RecordID($0, zone: save.id.zone), action: .deleteSelf)
            }
            builder.save(
                save.id, type: "Note",
                fields: [
                    "number": .int64(Int64(save.item.number)), "link": link, "sealed": sealed, "asset": asset,
                    "text": .string(content.text(save.item.number, of: save.id.name)),
                ])
        }
        for id in deletes { builder.delete(id) }
        return try withExtendedLifetime(pins) { try submit(builder.request, number) }
    }

    /// Adds one to a counter that all writers share, by comparing and setting.
    private func increment(_ number: Int) throws -> UInt64? {
        let shared = Actor(user: WriterContent.counterUser, device: "d\(content.writer)")
        let id = RecordID(WriterContent.counterName, zone: ZoneID("_defaultZone"))
        while true {
            let known = try? store.fetch([id], in: Self.own, as: shared)[0].get()
            var count: Int64 = 0
            if case .int64(let value)? = try known?["count"] { count = value }
            var builder = RequestBuilder(Self.own)
            builder.save(id, type: "Counter", base: known?.version, fields: ["count": .int64(count + 1)])
            let answer = try store.modify(
                builder.request, as: shared, operation: OperationInfo(id: "\(content.writer)-\(number)"))
            switch answer.result.saves[0] {
            case .success: return answer.offset
            case .failure(let refusal) where refusal.code == .serverRecordChanged: continue
            case .failure(let refusal): throw refusal
            }
        }
    }

    private func maintain(_ step: WriterPlan.Step) throws {
        switch step {
        case .erase(let id):
            try store.erase([id], in: DatabaseID(.private, owner: content.user), reason: "asked for")
        case .declareIndex(let field): try store.declareIndexes(type: "Note", fields: [(field, .queryable)])
        case .resetKeys: try store.resetEncryptedData(of: content.user)
        case .rebuildViews: try store.rebuildViews()
        case .collectAssets: try store.collectAssets()
        case .compact(let kept):
            let end = store.durableOffset
            do { try store.compact(before: end > UInt64(kept) ? end - UInt64(kept) : 1) } catch let error as StrataError
                where error.code == .invalidArgument
            {
                // There may be nothing left that could be compacted.
            }
        default: try store.sync()
        }
    }
}
