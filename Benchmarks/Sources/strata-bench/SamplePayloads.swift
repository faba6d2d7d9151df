import StrataModel
import StrataSystem

/// Payloads like those of an app with tasks in it: random record names, words, numbers.
struct SamplePayloads {
    private static let words = [
        "review", "draft", "garden", "invoice", "harbour", "call", "before", "meeting", "weekly", "plan", "order",
        "seventeen", "blue", "repair", "ticket", "holiday", "window", "answer", "letter", "paint",
    ]

    private let random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// A commit of `count` saved records, about `bodyBytes` each.
    ///
    /// - Parameter zone: of all records; by default one of ten for each.
    func payload(events count: Int, bodyBytes: Int, zone: UInt64? = nil) -> ArraySlice<UInt8> {
        var envelope = Envelope(
            header: EnvelopeHeader(
                user: 1, device: 1, operationID: text(16), operationKind: .modifyRecords, qualityOfService: .utility))
        for _ in 0..<count { envelope.events.append(record(bodyBytes, zone)) }
        return envelope.encoded()[...]
    }

    private func record(_ bodyBytes: Int, _ zone: UInt64?) -> Event {
        var writer = ByteWriter(reserving: bodyBytes + 32)
        writer.appendVarint(zone ?? 1 + random.next(below: 10))
        writer.appendVarint(1)
        writer.appendString(text(36))
        writer.append(random.next() % 1_000_000)
        writer.append(1_700_000_000_000_000 + random.next(below: 10_000_000_000))
        while writer.bytes.count < bodyBytes {
            writer.appendString(Self.words[Int(random.next(below: UInt64(Self.words.count)))])
            if writer.bytes.count % 7 == 0 { writer.append(UInt32(truncatingIfNeeded: random.next())) }
        }
        return Event(.recordSaved, body: writer.bytes[...])
    }

    private func text(_ count: Int) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: (0..<count).map { _ in digits[Int(random.next(below: 16))] }, as: UTF8.self)
    }
}
