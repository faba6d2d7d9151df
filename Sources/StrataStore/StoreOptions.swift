import StrataLog
import StrataRules
import StrataTree
import StrataViews

/// How a store works. ``service`` behaves as CloudKit does, ``embedded`` as a database for servers and tools.
public struct StoreOptions: Sendable {
    public var containerIdentifier: String
    public var durability: Durability
    public var limits: Limits
    /// Whether saving a child gives its parent a new change tag (B61).
    public var touchesParents: Bool
    /// Whether a record type that was never saved is an error (B142).
    public var unknownTypesAreErrors: Bool
    /// Whether saves extend the schema (B24).
    public var schema: SchemaMode
    /// Whether a store is made where there is none.
    public var createsStore: Bool
    public var segmentBytes: Int
    public var pages: PageStoreOptions
    public var checkpoints: Checkpointer.Policy

    public init(
        containerIdentifier: String = "iCloud.local", durability: Durability = .commit, limits: Limits = .service,
        touchesParents: Bool = true, unknownTypesAreErrors: Bool = true, schema: SchemaMode = .open,
        createsStore: Bool = true, segmentBytes: Int = 64 << 20, pages: PageStoreOptions = PageStoreOptions(),
        checkpoints: Checkpointer.Policy = Checkpointer.Policy()
    ) {
        self.containerIdentifier = containerIdentifier
        self.durability = durability
        self.limits = limits
        self.touchesParents = touchesParents
        self.unknownTypesAreErrors = unknownTypesAreErrors
        self.schema = schema
        self.createsStore = createsStore
        self.segmentBytes = segmentBytes
        self.pages = pages
        self.checkpoints = checkpoints
    }

    public static let service = StoreOptions()
    public static let embedded = StoreOptions(
        limits: .embedded, touchesParents: false, unknownTypesAreErrors: false)

    var rules: Rules { Rules(limits: limits, touchesParents: touchesParents, schema: schema) }

    var log: LogOptions {
        LogOptions(
            durability: durability, segmentBytes: segmentBytes, containerIdentifier: containerIdentifier,
            createsStore: createsStore)
    }

    /// The names of what differs.
    func differences(from other: StoreOptions) -> [String] {
        var names: [String] = []
        if durability != other.durability { names.append("durability") }
        if limits != other.limits { names.append("limits") }
        if touchesParents != other.touchesParents { names.append("touchesParents") }
        if unknownTypesAreErrors != other.unknownTypesAreErrors { names.append("unknownTypesAreErrors") }
        if schema != other.schema { names.append("schema") }
        if segmentBytes != other.segmentBytes { names.append("segmentBytes") }
        if containerIdentifier != other.containerIdentifier { names.append("containerIdentifier") }
        if pages.numbers != other.pages.numbers || pages.access != other.pages.access { names.append("pages") }
        if checkpoints != other.checkpoints { names.append("checkpoints") }
        return names
    }
}

extension PageStoreOptions {
    /// What can be compared of them, beside the access.
    fileprivate var numbers: [Int] {
        [maximumPages, maximumArenaPages, maximumMemoryPages, maximumDirtyPages, maximumKeptCheckpoints]
    }
}
