import StrataLog
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// How a store works. ``service`` behaves as CloudKit does, ``embedded`` as a database for servers and tools.
public struct StoreOptions: Sendable {
    public var containerIdentifier: String
    public var durability: Durability
    public var limits: Limits
    /// Bytes that the file of an asset has at most.
    public var assetBytes: UInt64
    /// Whether saving a child gives its parent a new change tag (B61).
    public var touchesParents: Bool
    /// Whether a record type that was never saved is an error (B142).
    public var unknownTypesAreErrors: Bool
    /// Which predicates a query may have (B124).
    public var predicates: PredicateDialect
    /// Whether saves extend the schema (B24).
    public var schema: SchemaMode
    /// Whether requests that come to nothing are kept in the log, complete and with the reasons (docs/rules.md §14). No
    /// preset of the engine does; CloudKit's `CloudStore.Options.service` does, and a store that is open with the one
    /// cannot be opened with the other in the same process.
    public var recordsRefusals: Bool
    /// Whether it is kept in the log what devices read.
    public var recordsFetches: Bool
    /// Whether a store is made where there is none.
    public var createsStore: Bool
    public var segmentBytes: Int
    public var pages: PageStoreOptions
    public var checkpoints: Checkpointer.Policy
    /// What is let go of by itself, in the background: nothing, unless this says so.
    public var history: HistoryPolicy
    /// Rows of indexes that are being built take so much memory; beyond, they are sorted in a file.
    var buildMemoryBytes = RunSorter.usualMemoryBytes
    /// Which states are kept for those who look at the past.
    var pasts = PastStates.Limits()
    /// So long a lazy commit waits at most.
    var auditDelayMilliseconds = AuditPolicy().delayMilliseconds
    /// As ``LogOptions/spaceStepBytes``.
    var spaceStepBytes = LogOptions().spaceStepBytes

    public init(
        containerIdentifier: String = LogOptions().containerIdentifier,
        durability: Durability = LogOptions().durability, limits: Limits = .service,
        assetBytes: UInt64 = 50_000_000,
        touchesParents: Bool = true, unknownTypesAreErrors: Bool = true, predicates: PredicateDialect = .cloudKit,
        schema: SchemaMode = .open, recordsRefusals: Bool = false, recordsFetches: Bool = false,
        createsStore: Bool = LogOptions().createsStore, segmentBytes: Int = LogOptions().segmentBytes,
        pages: PageStoreOptions = PageStoreOptions(),
        checkpoints: Checkpointer.Policy = Checkpointer.Policy(), history: HistoryPolicy = .everything
    ) {
        self.containerIdentifier = containerIdentifier
        self.durability = durability
        self.limits = limits
        self.assetBytes = assetBytes
        self.touchesParents = touchesParents
        self.unknownTypesAreErrors = unknownTypesAreErrors
        self.predicates = predicates
        self.schema = schema
        self.recordsRefusals = recordsRefusals
        self.recordsFetches = recordsFetches
        self.createsStore = createsStore
        self.segmentBytes = segmentBytes
        self.pages = pages
        self.checkpoints = checkpoints
        self.history = history
    }

    public static let service = StoreOptions()
    public static let embedded = StoreOptions(
        limits: .embedded, assetBytes: 4_000_000_000, touchesParents: false, unknownTypesAreErrors: false,
        predicates: .extended)

    package var rules: Rules {
        Rules(limits: limits, touchesParents: touchesParents, schema: schema) { [predicates] text in
            try PredicateCheck(predicates).check(PredicateParser.parse(text))
        }
    }

    var queryRules: QueryRules {
        QueryRules(
            dialect: predicates, asksDeclaredFieldsOnly: schema == .enforced,
            unknownTypesAreErrors: unknownTypesAreErrors)
    }

    var audits: AuditPolicy {
        AuditPolicy(
            recordsRefusals: recordsRefusals, recordsFetches: recordsFetches,
            delayMilliseconds: auditDelayMilliseconds)
    }

    var log: LogOptions {
        LogOptions(
            durability: durability, segmentBytes: segmentBytes, spaceStepBytes: spaceStepBytes,
            containerIdentifier: containerIdentifier, createsStore: createsStore)
    }

    /// The names of what differs.
    func differences(from other: StoreOptions) -> [String] {
        var names: [String] = []
        if durability != other.durability { names.append("durability") }
        if limits != other.limits || assetBytes != other.assetBytes { names.append("limits") }
        if touchesParents != other.touchesParents { names.append("touchesParents") }
        if unknownTypesAreErrors != other.unknownTypesAreErrors { names.append("unknownTypesAreErrors") }
        if predicates != other.predicates { names.append("predicates") }
        if schema != other.schema { names.append("schema") }
        if recordsRefusals != other.recordsRefusals { names.append("recordsRefusals") }
        if recordsFetches != other.recordsFetches { names.append("recordsFetches") }
        if segmentBytes != other.segmentBytes { names.append("segmentBytes") }
        if containerIdentifier != other.containerIdentifier { names.append("containerIdentifier") }
        if pages.numbers != other.pages.numbers || pages.access != other.pages.access { names.append("pages") }
        if checkpoints != other.checkpoints { names.append("checkpoints") }
        if history != other.history { names.append("history") }
        return names
    }
}

extension PageStoreOptions {
    /// What can be compared of them, beside the access.
    fileprivate var numbers: [Int] {
        [maximumPages, maximumArenaPages, maximumMemoryPages, maximumDirtyPages, maximumKeptCheckpoints]
    }
}
