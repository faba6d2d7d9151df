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
