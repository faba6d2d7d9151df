import StrataModel
import TestSupport
import Testing

@Suite("Walking through a payload")
struct EventWalkerTests {
    @Test("Header and events are those that decoding gives")
    func sameAsDecoding() throws {
        var sample = SamplePayload(seed: 3, zones: [1, 200])
        let payload = sample.next(events: 5, header: EnvelopeHeader(user: 4, device: 300))
        let envelope = try Envelope(decoding: payload[...])
        try payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            try #expect(walker.header() == envelope.header)
            #expect(walker.eventCount == 5)
            for (index, event) in envelope.events.enumerated() {
                #expect(walker.eventIndex == index)
                let next = try #require(try walker.next())
                #expect(next.kind == event.kind && bytes[next.body].elementsEqual(event.body))
            }
            let end = try walker.next()
            #expect(end == nil)
        }
    }

    @Test("Every payload that ends too early is refused on the way")
    func truncations() throws {
        var sample = SamplePayload(seed: 3)
        let payload = sample.next(events: 3)
        for count in 0..<payload.count {
            let error = thrownError {
                try Array(payload[..<count]).withUnsafeBytes { bytes in
                    var walker = try EventWalker(bytes)
                    while try walker.next() != nil {}
                }
            }
            #expect(error != nil, "cut to \(count) bytes")
        }
    }
}
