import StrataLog
import StrataModel
import StrataQuery
import StrataReplication
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// The options of a store. ``service`` behaves as CloudKit does, ``embedded`` as a database for servers and tools.
public struct StoreOptions: Sendable {
    public var containerIdentifier: String
    public var durability: Durability
    public var limits: Limits
    /// The maximum size of an asset's file in bytes.
    public var assetBytes: UInt64
    /// True if saving a child gives its parent a new change tag (B61).
    public var touchesParents: Bool
    /// True if a record type that was never saved is an error (B142).
    public var unknownTypesAreErrors: Bool
    /// The predicates that a query may have (B124).
    public var predicates: PredicateDialect
    /// Determines whether saves extend the schema (B24).
    public var schema: SchemaMode
    /// True if refused requests are kept in the log, complete and with the reasons (docs/rules.md §14). No preset of
    /// the engine sets this, but CloudKit's `CloudStore.Options.service` does; a process cannot have a store open with
    /// both settings.
    public var recordsRefusals: Bool
    /// True if the log records what devices read.
    public var recordsFetches: Bool
    /// True if a missing store is created.
    public var createsStore: Bool
    public var segmentBytes: Int
    package var pages: PageStoreOptions
    package var checkpoints: Checkpointer.Policy
    /// The history that the store removes automatically in the background; by default none.
    public var history: HistoryPolicy
    /// Orders the commits of all processes that have the store; nil if only this one writes (docs/replication.md).
    package var sequencer: (any Sequencer)?
    /// The memory for the rows of indexes that are being built; beyond it, they are sorted in a file.
    var buildMemoryBytes = RunSorter.usualMemoryBytes
    /// The limits of the states that are kept for readers of the past.
    var pasts = PastStates.Limits()
    /// The maximum time that a lazy commit waits.
    var auditDelayMilliseconds = AuditPolicy().delayMilliseconds
    /// See ``LogOptions/spaceStepBytes``.
    var spaceStepBytes = LogOptions().spaceStepBytes

    package init(
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

    /// Opens the log in a store's directory, or creates the store; `segments` are those of the log.
    func openLog(at path: String, _ platform: Platform) throws -> (log: any EventLog, segments: SegmentedLog) {
        guard let sequencer else {
            guard try !platform.files.exists(StorePaths(path).replica) else {
                throw StrataError(
                    .invalidArgument,
                    "The store is a copy of one that several processes write; open it with its sequencer, or to read.",
                    .init(path: path))
            }
            let log = try SegmentedLog.open(at: path, options: log, platform: platform)
            return (log, log)
        }
        let log = try ReplicatedLog.open(at: path, sequencer: sequencer, log: log, platform: platform)
        return (log, log.copy)
    }

    /// Returns the names of the options that differ.
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
        if sequencer !== other.sequencer { names.append("sequencer") }
        return names
    }
}

extension PageStoreOptions {
    /// The options that can be compared, other than the access.
    fileprivate var numbers: [Int] {
        [maximumPages, maximumArenaPages, maximumMemoryPages, maximumDirtyPages, maximumKeptCheckpoints]
    }
}
