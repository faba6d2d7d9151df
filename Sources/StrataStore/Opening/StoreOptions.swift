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
    /// The place where commits get their order: by default the store's directory, so that only one process writes.
    public var place = LogPlace.local
    /// False for a tool that judges no requests of clients, and opens stores whatever their rules are: the log states
    /// none of it.
    package var statesRules = true
    /// False for a copy that is removed soon, so that a trim of the sequencer need not wait for it.
    package var notesProgress = true
    /// The limits of the states that are kept for readers of the past.
    var pasts = PastStates.Limits()
    /// The maximum time that a lazy commit waits. On a sequencer, where each costs an entry, it waits for 10 s or more.
    var auditDelayMilliseconds = AuditPolicy().delayMilliseconds
    /// The age from which a file in a directory that several processes share is removed if nothing names it: a draft,
    /// or an asset that was not touched since.
    var unusedFileSeconds = Self.daySeconds
    /// The maximum time that a request or a reader waits while damaged views are folded again, which is less than the
    /// usual timeout of CloudKit's requests.
    var patienceMilliseconds = 30_000
    /// See ``LogOptions/spaceStepBytes``.
    var spaceStepBytes = LogOptions().spaceStepBytes

    static let daySeconds = 86_400

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

    /// The rules as the log states them.
    var stated: RulesStatedEvent {
        var policies: RulesStatedEvent.Policies = []
        if touchesParents { policies.insert(.touchesParents) }
        if schema == .enforced { policies.insert(.enforcesSchema) }
        if unknownTypesAreErrors { policies.insert(.unknownTypesAreErrors) }
        if predicates == .extended { policies.insert(.extendsPredicates) }
        return RulesStatedEvent(
            .init(
                itemsPerRequest: UInt64(clamping: limits.itemsPerRequest),
                requestBytes: UInt64(clamping: limits.requestBytes),
                recordBytes: UInt64(clamping: limits.recordBytes),
                owningReferences: UInt64(clamping: limits.owningReferences),
                movedRecords: UInt64(clamping: limits.movedRecords), assetBytes: assetBytes), policies)
    }

    var queryRules: QueryRules {
        QueryRules(
            dialect: predicates, asksDeclaredFieldsOnly: schema == .enforced,
            unknownTypesAreErrors: unknownTypesAreErrors)
    }

    var audits: AuditPolicy {
        AuditPolicy(
            recordsRefusals: recordsRefusals, recordsFetches: recordsFetches,
            delayMilliseconds: place == .local ? auditDelayMilliseconds : max(auditDelayMilliseconds, 10_000))
    }

    /// The options that decide how requests are judged, a line for each: all processes of a store must have the same.
    ///
    /// The store keeps this text, so a changed name or value counts as another option.
    var terms: String {
        """
        limits.itemsPerRequest \(limits.itemsPerRequest)
        limits.requestBytes \(limits.requestBytes)
        limits.recordBytes \(limits.recordBytes)
        limits.owningReferences \(limits.owningReferences)
        limits.assetBytes \(assetBytes)
        touchesParents \(touchesParents)
        unknownTypesAreErrors \(unknownTypesAreErrors)
        predicates \(predicates == .cloudKit ? "cloudKit" : "extended")
        schema \(schema == .open ? "open" : "enforced")
        """
    }

    var log: LogOptions {
        LogOptions(
            durability: durability, segmentBytes: segmentBytes, spaceStepBytes: spaceStepBytes,
            containerIdentifier: containerIdentifier, createsStore: createsStore)
    }

    /// The number of entries from which a new copy folds commits while the others come.
    private static let earlyEntries: UInt64 = 64

    /// Opens the log in a store's directory, or creates the store; `segments` are those of the log.
    func openLog(at path: String, _ platform: Platform) throws -> (log: any EventLog, segments: SegmentedLog) {
        guard let sequencer = try place.sequencer(platform) else {
            guard place.writes == .anywhere else {
                throw StrataError(
                    .invalidArgument, "A store without a sequencer has one writer; remove writing(.home).",
                    .init(path: path))
            }
            guard place.filesDirectory == nil, place.assets == .directory else {
                throw StrataError(
                    .invalidArgument,
                    "A store without a sequencer keeps assets and keys in its own directory; remove the other place.",
                    .init(path: path, found: place.filesDirectory ?? "assets=cluster"))
            }
            guard try !platform.files.exists(StorePaths(path).replica) else {
                throw StrataError(
                    .invalidArgument,
                    "The store is a copy of one that several processes write; open it with its sequencer, or to read.",
                    .init(path: path))
            }
            let log = try SegmentedLog.open(at: path, options: log, platform: platform)
            return (log, log)
        }
        // A page file may have a checkpoint of commits that the copy lost; it is good once the copy has them again.
        let hasPages = try PageStore.hasFile(in: path, files: platform.files)
        let log = try ReplicatedLog.open(
            at: path, sequencer: sequencer,
            options: .init(
                terms: statesRules ? terms : "", address: place.address, filesDirectory: place.filesDirectory,
                notesProgress: notesProgress, earlyEntries: hasPages ? .max : Self.earlyEntries),
            log: log, platform: platform)
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
        if place != other.place { names.append("place") }
        return names
    }
}

extension PageStoreOptions {
    /// The options that can be compared, other than the access.
    fileprivate var numbers: [Int] {
        [maximumPages, maximumArenaPages, maximumMemoryPages, maximumDirtyPages, maximumKeptCheckpoints]
    }
}
