import StrataTree

/// The trees of a store (docs/format-keys.md §3).
public enum ViewTree {
    public static let records = TreeID(rawValue: 1)
    public static let zones = TreeID(rawValue: 2)
    public static let zoneChanges = TreeID(rawValue: 3)
    public static let references = TreeID(rawValue: 4)
    public static let subscriptions = TreeID(rawValue: 5)
    public static let schema = TreeID(rawValue: 6)
    public static let users = TreeID(rawValue: 7)
    public static let devices = TreeID(rawValue: 8)
    public static let clientTokens = TreeID(rawValue: 9)
    public static let names = TreeID(rawValue: 10)
    public static let ordinals = TreeID(rawValue: 11)
    public static let databases = TreeID(rawValue: 12)
    public static let expiredTokens = TreeID(rawValue: 13)
    public static let subscriptionContents = TreeID(rawValue: 14)
    public static let deliveries = TreeID(rawValue: 15)

    public static let index = TreeID(rawValue: 16)
    public static let indexCatalog = TreeID(rawValue: 17)
    public static let firedSubscriptions = TreeID(rawValue: 18)
    public static let assets = TreeID(rawValue: 19)
    /// Has no rows; it is folded to the horizon of the base to which the rows of assets have been brought.
    static let prunedAssets = TreeID(rawValue: 20)

    /// Trees whose rows are an event's body behind its version and digests.
    static let plain = [subscriptions, schema, users, devices, clientTokens, databases, expiredTokens, deliveries]
    /// Trees that every fold brings to its offset.
    static let folded =
        [records, zones, zoneChanges, references, names, ordinals, subscriptionContents, firedSubscriptions, assets]
        + plain
}
