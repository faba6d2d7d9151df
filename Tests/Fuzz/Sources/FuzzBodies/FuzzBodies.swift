import StrataLog
import StrataModel
import StrataSystem

/// What the fuzz targets do with an input. The ordinary tests replay the corpus through the same functions.
public enum FuzzBodies {
    /// Any bytes as a payload: decoding gives an envelope or throws; what decodes encodes to something that decodes
    /// alike.
    public static func envelope(_ input: UnsafeRawBufferPointer) {
        let payload = ArraySlice(input)
        _ = try? Envelope.touches(of: input)
        guard let envelope = try? Envelope(decoding: payload) else { return }
        for event in envelope.events { _ = try? InternedName(decoding: event.body) }
        let again = try? Envelope(decoding: envelope.encoded()[...])
        precondition(again == envelope, "encoding what was decoded keeps it")
    }

    /// Any bytes as the body of an event of the kind that the first byte says, as a state, or as a request: decoding
    /// gives a value or throws; what decodes encodes to the same bytes, but for optional fields that nobody knows.
    public static func event(_ input: UnsafeRawBufferPointer) {
        guard let first = input.first else { return }
        let rest = Array(input.dropFirst())
        switch first {
        case 0: state(rest)
        case 255: keepsBytes(rest) { try Request(decoding: $0[...]).encoded() }
        default:
            let kind = EventKind(rawValue: UInt64(first))
            keepsBytes(rest) { bytes in try kind.body.map { Array(try $0.init(decoding: bytes[...]).event().body) } }
            if kind == .recordSaved { save(rest) }
        }
    }

    private static func keepsBytes(_ bytes: [UInt8], _ code: ([UInt8]) throws -> [UInt8]?) {
        guard let again = try? code(bytes) else { return }
        precondition(again == bytes || again.count < bytes.count, "what was decoded encodes to the same bytes")
        precondition((try? code(again)) == again, "what was encoded decodes")
    }

    private static func state(_ bytes: [UInt8]) {
        keepsBytes(bytes) { bytes in
            var writer = ByteWriter()
            try RecordState(decoding: bytes[...]).encode(into: &writer)
            return writer.bytes
        }
        bytes.withUnsafeBytes { bytes in
            guard let view = try? RecordStateView(bytes, in: 0..<bytes.count) else { return }
            _ = try? view.links()
            lookUp(try? view.fields())
        }
    }

    private static func lookUp(_ table: FieldTable?) {
        guard let table else { return }
        for field in UInt32(0)..<20 { _ = try? table.value(of: field) }
    }

    /// Applied to nothing, then to what came of it, whether they fit or not.
    private static func save(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            guard let view = try? RecordSavedView(bytes, in: 0..<bytes.count) else { return }
            lookUp(try? view.fields)
            var (merger, first, second) = (RecordMerger(), ByteWriter(), ByteWriter())
            let version = view.previous ?? Version(offset: 1, eventIndex: 0)
            let place = EventPlace(version: version, time: 1, user: 1)
            guard (try? merger.apply(view, at: place, to: nil, into: &first)) != nil else { return }
            first.bytes.withUnsafeBytes { state in
                let made = try? RecordStateView(state, in: 0..<state.count)
                precondition(made != nil, "a state that was made can be read")
                lookUp(try? made?.fields())
                _ = try? merger.apply(view, at: place, to: state, into: &second)
            }
        }
    }

    /// Any bytes as the frames of a segment. Reading gives commits or an error; what a writer accepts, a second opening
    /// accepts too, with nothing more to cut.
    public static func segment(_ input: UnsafeRawBufferPointer) {
        let store = FuzzedStore(frames: repaired(input))
        _ = LogVerifier.verify(at: "s", platform: store.platform)
        let touches: TouchFunction = { _ in [] }
        readAll(store, touches)
        guard let log = try? open(store, touches) else { return }
        let end = log.end
        try? log.close()
        guard let reopened = try? open(store, touches) else {
            preconditionFailure("a log that was opened and closed opens again")
        }
        precondition(reopened.end == end, "opening twice gives the same end")
        precondition(reopened.recovery.tornTail == nil, "a torn tail is cut once")
        try? reopened.close()
    }

    private static func open(_ store: FuzzedStore, _ touches: @escaping TouchFunction) throws -> SegmentedLog {
        let options = LogOptions(segmentBytes: 1 << 20, spaceStepBytes: 0, createsStore: false)
        return try SegmentedLog.open(at: "s", options: options, platform: store.platform, touches: touches)
    }

    private static func readAll(_ store: FuzzedStore, _ touches: @escaping TouchFunction) {
        guard let reader = try? LogReader.open(at: "s", platform: store.platform, touches: touches),
            var cursor = try? reader.read(from: 1)
        else { return }
        while let commit = try? cursor.next() {
            let single = try? reader.commit(at: commit.offset)
            precondition(single == commit, "a commit reads the same alone and in order")
        }
    }

    /// Puts right the magic and checksums of the frames that the input seems to mean, unless it asks not to: a fuzzer
    /// does not guess checksums, and what lies behind them is what matters.
    private static func repaired(_ input: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes = [UInt8](input)
        guard let mode = bytes.popLast(), mode & 1 == 0 else { return bytes }
        var place = 0
        var sequence = Sequence()
        while place + LogFormat.frameHeaderBytes <= bytes.count {
            bytes.replaceSubrange(place..<place + 4, with: "StFr".utf8)
            // Lengths stay within the input, so that bodies are reached.
            bytes[place + 46] = 0
            bytes[place + 47] = 0
            let stored = Int(bytes[place + 44]) | Int(bytes[place + 45]) << 8
            let limit = place + LogFormat.frameHeaderBytes + (stored + 7) / 8 * 8
            guard limit <= bytes.count else { break }
            if mode & 2 == 0 { sequence.put(into: &bytes, at: place, bodyBytes: stored) }
            let body = checksum(bytes, place + LogFormat.frameHeaderBytes..<limit)
            put(body, into: &bytes, at: place + 56)
            var header = CRC32C()
            header.update(FuzzedStore.salt)
            header.update(UInt64(FuzzedStore.headerBytes + place))
            bytes.withUnsafeBytes { header.update(UnsafeRawBufferPointer(rebasing: $0[place..<place + 60])) }
            put(header.value, into: &bytes, at: place + 60)
            place = limit
        }
        return bytes
    }

    /// Makes frames follow one another as commits whose bodies are stored as they are.
    private struct Sequence {
        private var offset: UInt64 = 0
        private var chain: UInt32 = 0

        mutating func put(into bytes: inout [UInt8], at place: Int, bodyBytes: Int) {
            // Every eighth value of the kind's byte keeps what the input says, so that other kinds come in between.
            guard bytes[place + 4] & 7 != 0 else { return }
            offset += 1
            bytes[place + 4] = 1
            bytes[place + 5] = 0
            bytes[place + 6] = 0
            FuzzBodies.put(UInt32(truncatingIfNeeded: offset), into: &bytes, at: place + 8)
            FuzzBodies.put(0, into: &bytes, at: place + 12)
            FuzzBodies.put(UInt32(bodyBytes), into: &bytes, at: place + 40)
            FuzzBodies.put(0, into: &bytes, at: place + 32)
            FuzzBodies.put(0, into: &bytes, at: place + 36)
            var running = CRC32C()
            running.update(chain)
            running.update(offset)
            running.update(UInt64(0))
            running.update(UInt64(bodyBytes))
            let body = place + LogFormat.frameHeaderBytes..<place + LogFormat.frameHeaderBytes + bodyBytes
            bytes.withUnsafeBytes { running.update(UnsafeRawBufferPointer(rebasing: $0[body])) }
            chain = running.value
            FuzzBodies.put(chain, into: &bytes, at: place + 48)
        }
    }

    private static func checksum(_ bytes: [UInt8], _ range: Range<Int>) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    fileprivate static func put(_ number: UInt32, into bytes: inout [UInt8], at place: Int) {
        withUnsafeBytes(of: number.littleEndian) { bytes.replaceSubrange(place..<place + 4, with: $0) }
    }
}
