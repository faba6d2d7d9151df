import StrataModel
import StrataTree

/// The trees of a store (docs/format-keys.md §3). Each is declared in the file of its ``ViewMaintainer``.
package enum ViewTree {
    /// The maintainers of all trees. A base states their rows in this order.
    static let maintainers: [any ViewMaintainer.Type] = [
        NamesMaintainer.self, RecordNamesMaintainer.self, DatabasesMaintainer.self, UsersMaintainer.self,
        DevicesMaintainer.self,
        SchemaMaintainer.self, ZonesMaintainer.self, SubscriptionsMaintainer.self, FiredSubscriptionsMaintainer.self,
        ClientTokensMaintainer.self, ExpiredTokensMaintainer.self, SecretsMaintainer.self,
        StatedRulesMaintainer.self,
        DeliveriesMaintainer.self, SharesMaintainer.self, MembershipsMaintainer.self, SharedRecordsMaintainer.self,
        RecordsMaintainer.self,
        OrdinalsMaintainer.self, ZoneChangesMaintainer.self, ReferencesMaintainer.self,
        SubscriptionContentsMaintainer.self, AssetsMaintainer.self, ShareTokensMaintainer.self,
        ShareChangesMaintainer.self, IndexMaintainer.self,
        IndexCatalogMaintainer.self, PrunedAssetsMaintainer.self, AddressesMaintainer.self,
        SharedRootsMaintainer.self,
    ]

    private static let maintainersByTree = Dictionary(uniqueKeysWithValues: maintainers.map { ($0.tree, $0) })
    private static let maintainersByKind = Dictionary(
        uniqueKeysWithValues: maintainers.flatMap { maintainer in maintainer.kinds.map { ($0, maintainer) } })

    /// The trees that every fold brings to its offset.
    static let folded = maintainers.filter { $0.isFolded }.map { $0.tree }
    /// The trees whose rows a base states, in this order; the others are derived from them.
    static let stated = maintainers.filter { $0.isStated }.map { $0.tree }

    static func maintainer(of id: TreeID) -> (any ViewMaintainer.Type)? { maintainersByTree[id] }
    static func maintainer(applying kind: EventKind) -> (any ViewMaintainer.Type)? { maintainersByKind[kind] }

    /// The name of a tree in docs/format-keys.md §3.
    package static func name(of id: TreeID) -> String { maintainersByTree[id]?.name ?? "tree \(id.rawValue)" }
}
