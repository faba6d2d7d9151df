import StrataLog
import StrataModel
import StrataSystem

/// Finds out the identity that all processes of a store share: that of their sequencer's first entry or base.
struct SharedIdentity {
    private static let pauseMilliseconds = 50

    private let paths: StorePaths
    private let sequencer: any Sequencer
    private let options: ReplicatedLog.Options

    init(at path: String, _ sequencer: any Sequencer, _ options: ReplicatedLog.Options) {
        paths = StorePaths(path)
        self.sequencer = sequencer
        self.options = options
    }

    /// Returns the store's identity, and where its entries begin; the first process that opens an empty sequencer
    /// appends the identity.
    ///
    /// - Throws: ``StrataError`` if the sequencer cannot be reached, is empty though the directory has a store, or
    ///   states other options than this process has; `.outOfRange` if it was trimmed and no base is left.
    func agree(_ log: LogOptions, _ platform: Platform) throws -> SequenceStart {
        let local = try StoreIdentity.read(paths, platform.files)
        do {
            let entry = try firstEntry(local, log, platform)
            return SequenceStart(try identity(in: entry), terms: nil)
        } catch let error as StrataError where error.code == .outOfRange {
            let start: SequenceStart
            do {
                start = try SequenceStart.base(
                    of: sequencer, in: options.filesDirectory, platform.files, checksFile: local == nil,
                    milliseconds: options.outcomeMilliseconds)
            } catch {
                // A copy that has read what was trimmed needs no base.
                guard let local else { throw error }
                return SequenceStart(local, terms: nil)
            }
            if let terms = start.terms { try check(terms) }
            return start
        }
    }

    private func firstEntry(
        _ local: StoreIdentity?, _ log: LogOptions, _ platform: Platform
    ) throws -> SequencedEntry {
        guard local == nil, log.createsStore, options.givesIdentity else { return try existing(local) }
        let own = try StoreIdentity(
            storeID: platform.random.nextIdentifier(), containerIdentifier: log.containerIdentifier,
            created: platform.time.nowMicroseconds())
        return try Self.offer(
            own, terms: options.terms, to: sequencer, platform, milliseconds: options.outcomeMilliseconds)
    }

    /// Returns the first entry of a sequencer that must already have one.
    private func existing(_ local: StoreIdentity?) throws -> SequencedEntry {
        let start = ContinuousClock.now
        while true {
            if let first = try Self.first(of: sequencer, milliseconds: Self.pauseMilliseconds) { return first }
            if try sequencer.last() == 0 { throw isEmpty(hasStore: local != nil) }
            guard start.duration(to: .now) < .milliseconds(options.outcomeMilliseconds) else {
                throw Self.isHidden(because: nil)
            }
        }
    }

    /// Appends an identity to a sequencer without entries, and returns the first entry: this one, or another process's.
    static func offer(
        _ identity: StoreIdentity, terms: String = "", to sequencer: any Sequencer, _ platform: Platform,
        milliseconds: Int
    ) throws -> SequencedEntry {
        let id = platform.random.nextIdentifier()
        let entry = SequencedEntry(
            store: identity.storeID, id: id, writer: id, previous: .zero, position: .start,
            content: .identity(identity, terms: terms)
        ).encoded()
        let start = ContinuousClock.now
        var reason: StrataError?
        var pause = 0
        repeat {
            if let first = try first(of: sequencer, milliseconds: pause) { return first }
            switch sequencer.append(entry, id: id, expecting: 0) {
            case .accepted, .taken: break
            case .unknown(let error): reason = error
            case .refused(let error): throw error
            }
            pause = pauseMilliseconds
        } while start.duration(to: .now) < .milliseconds(milliseconds)
        throw isHidden(because: reason)
    }

    /// Returns the first entry, which may be readable only some time after its number is known.
    private static func first(of sequencer: any Sequencer, milliseconds: Int) throws -> SequencedEntry? {
        try sequencer.entries(after: 0, waitingMilliseconds: milliseconds).first.map {
            try SequencedEntry(decoding: $0)
        }
    }

    private static func isHidden(because reason: StrataError?) -> StrataError {
        StrataError(
            .unreachable, "The sequencer does not show the first entry; open the store when it answers.", .init(),
            cause: reason)
    }

    private func isEmpty(hasStore: Bool) -> StrataError {
        hasStore
            ? StrataError(
                .invalidArgument,
                "The sequencer is empty, but the directory has a store; give the sequencer its history first.",
                .init(path: paths.store))
            : StrataError(
                .notFound, "The sequencer has no store; 'strata create' gives it one.", .init(path: paths.store))
    }

    private func identity(in entry: SequencedEntry) throws -> StoreIdentity {
        guard case .identity(let identity, let terms) = entry.content else {
            throw StrataError(
                .malformed, "The first entry of the sequencer is not the identity of a store.", .init())
        }
        try check(terms)
        return identity
    }

    /// Checks that this process has the options that the store was created with.
    private func check(_ terms: String) throws {
        // A release may state options that another one does not know.
        let (theirs, own) = (Self.values(of: terms), Self.values(of: options.terms))
        let differing = theirs.keys.filter { own[$0] != nil && own[$0] != theirs[$0] }.sorted()
        guard differing.isEmpty else {
            func described(_ values: [Substring: Substring]) -> String {
                differing.map { "\($0) \(values[$0] ?? "")" }.joined(separator: ", ")
            }
            throw StrataError(
                .invalidArgument, "The store was created with other options; every process must use the same options.",
                .init(path: paths.store, expected: described(theirs), found: described(own)))
        }
    }

    /// Returns the values of the options that a text states, by their names.
    private static func values(of terms: String) -> [Substring: Substring] {
        var values: [Substring: Substring] = [:]
        for line in terms.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1)
            if words.count == 2 { values[words[0]] = words[1] }
        }
        return values
    }
}
