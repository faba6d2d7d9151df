import StrataLog
import StrataModel
import StrataSystem

/// What the fuzz targets do with an input. The ordinary tests replay the corpus through the same functions.
package enum FuzzBodies {
    /// Any bytes as a payload: decoding gives an envelope or throws; what decodes encodes to something that decodes
    /// alike.
    package static func envelope(_ input: UnsafeRawBufferPointer) {
        let payload = ArraySlice(input)
        _ = try? Envelope.touches(of: input)
        guard let envelope = try? Envelope(decoding: payload) else { return }
        for event in envelope.events { _ = try? InternedName(decoding: event.body) }
        let again = try? Envelope(decoding: envelope.encoded()[...])
        precondition(again == envelope, "encoding what was decoded keeps it")
    }

    /// Any bytes as the body of an event of the kind that the first byte says, as a state, or as a request: decoding
    /// gives a value or throws; what decodes encodes to the same bytes, but for optional fields that nobody knows.
    package static func event(_ input: UnsafeRawBufferPointer) {
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
    /// - Returns: how many commits the writer found; nil if it refused the segment.
    @discardableResult
    package static func segment(_ input: UnsafeRawBufferPointer) -> UInt64? {
        let frames = corrected(input)
        repair(FuzzedStore(frames: frames))
        let store = FuzzedStore(frames: frames)
        let touches: TouchFunction = { _ in [] }
        readAll(store, touches)
        guard let log = try? open(store, touches) else { return nil }
        let end = log.end
        try? log.close()
        guard let reopened = try? open(store, touches) else {
            preconditionFailure("a log that was opened and closed opens again")
        }
        precondition(reopened.end == end, "opening twice gives the same end")
        precondition(reopened.recovery.tornTail == nil, "a torn tail is cut once")
        try? reopened.close()
        return end.offset
    }

    /// What a repair leaves is whole, or it says what is in its way.
    static func repair(_ store: FuzzedStore) {
        let before = LogVerifier.verify(at: "s", platform: store.platform)
        guard let plan = try? LogRepair.apply(at: "s", platform: store.platform) else { return }
        precondition(plan.isWhole == (before.damage == nil), "verify and repair see the same")
        guard plan.obstacle == nil else { return }
        let after = LogVerifier.verify(at: "s", platform: store.platform)
        precondition(after.damage == nil && after.end == plan.end, "a log is whole once it was repaired")
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
    private static func corrected(_ input: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes = [UInt8](input)
        guard let mode = bytes.popLast(), mode & 1 == 0 else { return bytes }
        var place = 0
        var sequence = Sequence()
        while place + LogFormat.frameHeaderBytes <= bytes.count {
            bytes.replaceSubrange(place..<place + 4, with: "StFr".utf8)
            // Lengths stay within the input, so that bodies are reached.
            bytes[place + 46] = 0
            bytes[place + 47] = 0
            var stored = Int(bytes[place + 44]) | Int(bytes[place + 45]) << 8
            guard place + LogFormat.frameHeaderBytes + (stored + 7) / 8 * 8 <= bytes.count else { break }
            if mode & 2 == 0 { stored = sequence.put(into: &bytes, at: place, bodyBytes: stored) }
            let limit = place + LogFormat.frameHeaderBytes + (stored + 7) / 8 * 8
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

    /// Makes frames follow one another: what the input gives are kinds, lengths and bodies.
    private struct Sequence {
        private var offset: UInt64 = 0
        private var chain: UInt32 = 0

        /// - Returns: the length of the frame's body.
        mutating func put(into bytes: inout [UInt8], at place: Int, bodyBytes: Int) -> Int {
            let choice = bytes[place + 4]
            switch choice & 7 {
            case 4, 5:
                putClosing(choice & 7 == 4 ? 4 : 3, into: &bytes, at: place)
                return 0
            // Stay as the input has them, so that what is wrong comes in between. Parts are among these: a whole commit
            // of them has more than 4 MiB.
            case 6, 7: bytes[place + 4] = choice >> 3
            default: putCommit(into: &bytes, at: place, bodyBytes)
            }
            return bodyBytes
        }

        /// A mark or a seal.
        private func putClosing(_ kind: UInt8, into bytes: inout [UInt8], at place: Int) {
            bytes.replaceSubrange(place + 4..<place + 64, with: repeatElement(0, count: 60))
            bytes[place + 4] = kind
            FuzzBodies.put(UInt32(truncatingIfNeeded: offset), into: &bytes, at: place + 8)
            if offset == 0 { bytes[place + 39] = 0x80 }
            FuzzBodies.put(chain, into: &bytes, at: place + 48)
        }

        /// A commit whose body is stored as it is.
        private mutating func putCommit(into bytes: inout [UInt8], at place: Int, _ bodyBytes: Int) {
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
