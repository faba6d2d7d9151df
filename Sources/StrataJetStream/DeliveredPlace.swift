/// The place of a message that a consumer sent: its number in the stream, and among what the consumer sent.
struct DeliveredPlace: Equatable {
    let number: UInt64
    let delivered: UInt64
}

extension DeliveredPlace {
    /// Reads the subject for the acknowledgement, in which a server states them.
    ///
    /// It is `$JS.ACK.stream.consumer.tries.number.delivered.time.pending`; later servers have the domain and the
    /// account after `ACK`, and may add words at the end.
    init?(_ subject: String) {
        let words = subject.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count == 9 || words.count >= 11, words[0] == "$JS", words[1] == "ACK" else { return nil }
        let start = words.count == 9 ? 5 : 7
        guard let number = UInt64(words[start]), let delivered = UInt64(words[start + 1]), number > 0, delivered > 0
        else { return nil }
        self.init(number: number, delivered: delivered)
    }
}
