import StrataModel

/// Valid payloads, the same for the same seed: envelopes of *record saved* events over some zones.
///
/// ```swift
/// var sample = SamplePayload(seed: 7, zones: [1, 2])
/// let payload = sample.next(events: 400, bytesPerEvent: 250)
/// ```
package struct SamplePayload: Sendable {
    package var zones: [UInt64]
    package var recordType: UInt64
    /// Which part of a body is noise that does not compress, from 0 to 1; the rest is text.
    package var noise: Double
    private var generator: SeededGenerator
    private var recordNumber = 0

    package init(seed: UInt64, zones: [UInt64] = [1], recordType: UInt64 = 1, noise: Double = 0.25) {
        precondition(!zones.isEmpty, "records are in zones")
        self.zones = zones
        self.recordType = recordType
        self.noise = noise
        generator = SeededGenerator(seed: seed)
    }

    package mutating func next(
        events count: Int = 1, bytesPerEvent: Int = 100, header: EnvelopeHeader = EnvelopeHeader(user: 1)
    ) -> [UInt8] {
        nextEnvelope(events: count, bytesPerEvent: bytesPerEvent, header: header).encoded()
    }

    package mutating func nextEnvelope(
        events count: Int = 1, bytesPerEvent: Int = 100, header: EnvelopeHeader = EnvelopeHeader(user: 1)
    ) -> Envelope {
        var envelope = Envelope(header: header)
        for _ in 0..<count { envelope.events.append(nextEvent(bytes: bytesPerEvent)) }
        return envelope
    }

    /// A body of exactly `bytes` bytes, unless what every record event begins with needs more.
    private mutating func nextEvent(bytes: Int) -> Event {
        recordNumber += 1
        var writer = ByteWriter(reserving: bytes)
        writer.appendVarint(zones[generator.next(below: zones.count)])
        writer.appendVarint(recordType)
        writer.appendString("record-\(recordNumber)")
        let rest = max(bytes - writer.bytes.count, 0)
        let noiseBytes = Int(Double(rest) * noise)
        writer.append(bytes: generator.nextBytes(noiseBytes))
        let text = Self.text
        let start = generator.next(below: text.count)
        for index in 0..<rest - noiseBytes { writer.append(text[(start + index) % text.count]) }
        return Event(.recordSaved, body: writer.bytes[...])
    }

    private static let text = Array("title = The quick brown fox jumps over the lazy dog; done = false; ".utf8)
}
