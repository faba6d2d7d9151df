import StrataLog
import StrataModel
import StrataSystem
import StrataViews

/// Creates a store from an export of commits, with the same ids, times and payloads at the same offsets.
struct CommitImport {
    /// The number of commits in a batch. A batch also ends at its maximum number of bytes.
    private static let batchCount = 512
    private static let batchBytes = 4 << 20

    private let header: ExportHeader
    private let lines: LineReader
    private let isPartial: Bool
    private var batch: [NewCommit] = []
    private var batchChains: [UInt32] = []
    private var batchedBytes = 0
    private var nextOffset: UInt64 = 1
    private var count: UInt64 = 0
    private var firstOtherChain: UInt64?
    /// The secret of the new store, as an export has none.
    private let secret = SystemRandom().nextBytes(count: SecretDrawnEvent.byteCount)
    private var secretOffset: UInt64?
    private var drawsSecretInBase = false
    private var basePayloadHash: UInt128 = 0
    private var notes: [String]

    /// A line after the first.
    private enum Line {
        case base(number: UInt64, [UInt8])
        case commit(NewCommit, offset: UInt64, chain: UInt32)
        case end(ExportEnd)
    }

    /// A line that has been read but not used.
    private var waiting: Line?
    private var basePayloadCount: UInt64 = 0
    /// True if the last payload was the marker that ends a base.
    private var isBaseWhole = false

    /// - Parameter isPartial: true to accept an export that ends early or has no end.
    /// - Throws: ``Refusal`` if no store can be created from the export.
    init(_ header: ExportHeader, _ lines: LineReader, isPartial: Bool) throws {
        (self.header, self.lines, self.isPartial) = (header, lines, isPartial)
        notes = ImportReport.notes(header)
        guard !header.isComplete else { return }
        let missing = header.missing.joined(separator: "; ")
        guard header.isGapless else {
            throw Refusal(
                .invalidArguments, "the export is incomplete and cannot become a store: it lacks \(missing)")
        }
        guard isPartial else {
            throw Refusal(
                .invalidArguments,
                "the export is incomplete: it lacks \(missing). With --partial the store ends where the export does")
        }
        notes.append("the export lacks \(missing)")
    }

    /// - Parameters:
    ///   - path: the path of the draft, which the caller renames.
    ///   - didOpen: called once the store is open.
    mutating func run(at path: String, named name: String, _ didOpen: () throws -> Void) throws -> ImportReport {
        let options = LogOptions(
            durability: .system, spaceStepBytes: 0, containerIdentifier: header.container)
        if let base = header.base {
            try SegmentedLog.make(at: path, after: base.horizon, time: base.time, options: options) {
                try nextBasePayload()
            }
            nextOffset = base.horizon.offset + 1
        }
        // Payloads are copied even if they are not envelopes.
        let log = try SegmentedLog.open(at: path, options: options, touches: { (try? Envelope.touches(of: $0)) ?? [] })
        do {
            try didOpen()
            try appendAll(to: log)
            try log.sync()
        } catch {
            try? log.close()
            throw error
        }
        let end = log.end
        try log.close()
        if let offset = firstOtherChain {
            notes.append(
                offset == secretOffset
                    ? "chain values differ from commit \(offset) on: the new store draws a secret of its own there"
                    : "chain values differ from commit \(offset) on: something was erased there, and the old value "
                        + "covers the content before the erasure")
        }
        return ImportReport(
            path: name, content: .commits, count: count, endOffset: end.offset, endChain: end.chain,
            firstOtherChain: firstOtherChain, notes: notes)
    }

    // MARK: Lines

    private mutating func nextLine() throws -> Line? {
        if let line = waiting {
            waiting = nil
            return line
        }
        return try lines.next { try Self.line($0) }
    }

    private static func line(_ bytes: UnsafeRawBufferPointer) throws -> Line {
        var reader = JSONReader(bytes)
        var payload = ImportedPayload()
        var end: ExportEnd?
        var (base, offset, time): (UInt64?, UInt64?, Int64?) = (nil, nil, nil)
        var (id, chain): (Identifier?, UInt32?) = (nil, nil)
        try reader.readObject { key, reader in
            if var known = end {
                try known.read(key, &reader)
                end = known
                return
            }
            switch key {
            case "end": end = try ExportEnd(behindKey: &reader)
            case "base": base = try reader.readNumber(UInt64.self)
            case "offset": offset = try reader.readNumber(UInt64.self)
            case "time": time = try reader.readNumber(Int64.self)
            case "id": id = try ImportedPayload.readIdentifier(&reader)
            case "chain": chain = try ImportedPayload.readHexadecimal(UInt32.self, &reader)
            default: if try !payload.read(key, &reader) { try reader.skip() }
            }
        }
        try reader.expectEnd()
        if let end { return .end(end) }
        if let base { return .base(number: base, try payload.bytes(reader)) }
        guard let offset, let time, let id, let chain else {
            throw reader.error("a commit with offset, id, time and chain")
        }
        let commit = NewCommit(id: id, time: time, payload: try payload.bytes(reader)[...])
        return .commit(commit, offset: offset, chain: chain)
    }

    private mutating func nextBasePayload() throws -> ArraySlice<UInt8>? {
        let line = try nextLine()
        if case .base(let number, let payload) = line {
            basePayloadCount += 1
            guard number == basePayloadCount else {
                throw lines.disorder("payload \(basePayloadCount) of the base", found: "payload \(number)")
            }
            return try drawingSecret(inBase: payload[...])
        }
        // A base without its end cannot be replayed.
        guard isBaseWhole else { throw lines.disorder("another payload of the base", found: "its end") }
        waiting = line
        return nil
    }

    // MARK: The secret

    /// Returns a payload with the secret of the new store in place of the exported zeros; nil if it draws none.
    private func drawingSecret(in payload: ArraySlice<UInt8>) throws -> ArraySlice<UInt8>? {
        if SecretMask.secrets(in: payload).isEmpty { return nil }
        var envelope = try Envelope(decoding: payload)
        for index in envelope.events.indices where envelope.events[index].kind == .secretDrawn {
            var drawn = try SecretDrawnEvent(decoding: envelope.events[index].body)
            drawn.secret = secret
            envelope.events[index] = try drawn.event()
        }
        return envelope.encoded()[...]
    }

    /// Returns a payload of the base with the secret of the new store, and with the hash that its marker then has.
    private mutating func drawingSecret(inBase payload: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        var envelope = try Envelope(decoding: payload)
        isBaseWhole = envelope.events.last?.kind == .baseMarker
        let drawing = try drawingSecret(in: payload)
        var written = drawing ?? payload
        if drawing != nil { drawsSecretInBase = true }
        if isBaseWhole, drawsSecretInBase, let last = envelope.events.indices.last {
            var marker = try BaseMarkerEvent(decoding: envelope.events[last].body)
            marker.payloadHash = basePayloadHash
            envelope.events[last] = try marker.event()
            written = envelope.encoded()[...]
        }
        basePayloadHash = written.withUnsafeBytes { DigestHash.hash(basePayloadHash, $0) }
        return written
    }

    // MARK: Commits

    private mutating func appendAll(to log: SegmentedLog) throws {
        var end: ExportEnd?
        do {
            while end == nil {
                switch try nextLine() {
                case .commit(let commit, let offset, let chain): try add(commit, offset, chain, to: log)
                case .end(let found): end = found
                case .base: throw lines.disorder("commit \(nextOffset)", found: "a payload of a base")
                case nil:
                    throw lines.truncation
                }
            }
        } catch let error as StrataError where isPartial && error.isDamage {
            notes.append("the commits after commit \(nextOffset - 1) were not imported: \(error)")
            return try append(to: log)
        }
        try append(to: log)
        guard let end, end.count == count, end.last.offset == nextOffset - 1 else {
            throw lines.disorder("\(end?.count ?? 0) commits up to \(end?.last.offset ?? 0)", found: "\(count) commits")
        }
        guard try lines.next({ _ in }) == nil else {
            throw lines.disorder("nothing after the last line", found: "a line")
        }
    }

    private mutating func add(
        _ commit: NewCommit, _ offset: UInt64, _ chain: UInt32, to log: SegmentedLog
    ) throws {
        guard offset == nextOffset else { throw lines.disorder("commit \(nextOffset)", found: "commit \(offset)") }
        nextOffset += 1
        count += 1
        var commit = commit
        if let payload = try drawingSecret(in: commit.payload) {
            commit.payload = payload
            secretOffset = secretOffset ?? offset
        }
        batch.append(commit)
        batchChains.append(chain)
        batchedBytes += commit.payload.count
        if batch.count >= Self.batchCount || batchedBytes >= Self.batchBytes { try append(to: log) }
    }

    private mutating func append(to log: SegmentedLog) throws {
        var rest = batch[...]
        while !rest.isEmpty {
            let positions: [Position]
            do throws(AppendFailure) {
                positions = try log.append(Array(rest), expecting: log.end).positions
            } catch {
                throw error.cause
                    ?? StrataError(
                        .invalidArgument, "Commits of an export cannot be appended.", .init(found: "\(error)"))
            }
            for (position, chain) in zip(positions, batchChains) where position.chain != chain {
                firstOtherChain = firstOtherChain ?? position.offset
            }
            rest = rest.dropFirst(positions.count)
            batchChains.removeFirst(positions.count)
        }
        batch.removeAll(keepingCapacity: true)
        batchedBytes = 0
    }
}
