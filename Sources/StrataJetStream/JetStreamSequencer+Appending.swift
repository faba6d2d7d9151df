import StrataModel
import StrataReplication

/// Sends entries, and reads the servers' answers.
extension JetStreamSequencer {
    private enum ErrorNumber {
        static let wrongLast = [10_071, 10_164]
        static let tooLong = [10_054, 10_097]
        /// Reported before the entry goes to the other servers. After others (10023, 10077) they may have stored it.
        static let noRoom = [10_002, 10_028, 10_047]
        static let foreignStream = [10_060, 10_109]
    }

    /// The time that an answer may take, besides that for a long entry.
    private static let acknowledgementMilliseconds = 2_000
    static let bytesPerMillisecond = 1_000

    package func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        guard entry.count <= maximumEntryBytes else { return .refused(Self.tooLong(entry.count, options)) }
        let connection: NATSConnection
        // Nothing was sent while there was no connection.
        do { connection = try stream.attempt(milliseconds: options.patienceMilliseconds) { $0 } } catch {
            return .refused(described(error))
        }
        let headers = [
            (name: "Nats-Expected-Last-Sequence", value: String(expecting)),
            (name: "Nats-Expected-Stream", value: options.stream), (name: "Nats-Msg-Id", value: "\(id)"),
        ]
        let answer = Self.send(entry, to: options.subject, headers: headers, connection, options)
        if case .accepted(let number) = answer {
            state.withLock { ($0.seen, $0.doubtful) = (max($0.seen, number), nil) }
        }
        return answer
    }

    /// Sends a message that a stream is to keep, and returns the meaning of the server's answer.
    static func send(
        _ bytes: [UInt8], to subject: String, headers: [(name: String, value: String)], _ connection: NATSConnection,
        _ options: JetStreamOptions
    ) -> SequencerAnswer {
        do {
            return answer(
                try connection.request(
                    subject, bytes, headers: headers,
                    milliseconds: acknowledgementMilliseconds + bytes.count / bytesPerMillisecond), options)
        } catch {
            return error.status == .maximumPayload
                ? .refused(tooLong(bytes.count, options)) : .unknown(unreachable(options, error))
        }
    }

    /// Returns the meaning of a server's answer to an entry.
    static func answer(_ bytes: [UInt8], _ options: JetStreamOptions) -> SequencerAnswer {
        if let number = plainNumber(bytes, options), number > 0 { return .accepted(number) }
        do {
            let acknowledgement: JetStreamAPI.Acknowledgement = try JetStreamAPI.decode(bytes)
            // Numbers begin at 1; a duplicate whose number is not known yet is acknowledged with 0.
            guard acknowledgement.seq > 0 else {
                return .unknown(StrataError(.unreachable, "The server does not know the entry's number yet."))
            }
            return .accepted(acknowledgement.seq)
        } catch let failure as JetStreamAPI.Failure {
            return answer(failure, options)
        } catch {
            return .unknown(error as? StrataError ?? unreachable(options, error))
        }
    }

    /// Returns the number in an acknowledgement of the usual form, `{"stream":"notes", "seq":12}`: decoding it as JSON
    /// takes a tenth of the processor time of a commit. Nil for every other answer.
    private static func plainNumber(_ bytes: [UInt8], _ options: JetStreamOptions) -> UInt64? {
        let answer = String(decoding: bytes, as: UTF8.self).filter { $0 != " " }
        let start = #"{"stream":"\#(options.stream)","seq":"#
        guard answer.hasPrefix(start), answer.hasSuffix("}") else { return nil }
        return UInt64(answer.dropFirst(start.count).dropLast())
    }

    private static func answer(_ failure: JetStreamAPI.Failure, _ options: JetStreamOptions) -> SequencerAnswer {
        let context = StrataError.Context(path: options.address, found: failure.description)
        let number = failure.number ?? 0
        if ErrorNumber.wrongLast.contains(number) { return .taken }
        if ErrorNumber.tooLong.contains(number) {
            return .refused(StrataError(.tooLarge, "The entry is longer than the stream allows.", context))
        }
        if ErrorNumber.noRoom.contains(number) {
            return .refused(StrataError(.noSpace, "The servers have no room for the entry; add space.", context))
        }
        if ErrorNumber.foreignStream.contains(number) {
            return .refused(
                StrataError(.unsuitable, "The entries' subject belongs to another stream, or is closed.", context))
        }
        return .unknown(unreachable(options, failure))
    }

    private static func tooLong(_ count: Int, _ options: JetStreamOptions) -> StrataError {
        StrataError(
            .tooLarge, "The entry is longer than the sequencer allows.",
            .init(path: options.address, found: "\(count) bytes"))
    }

    private func described(_ error: any Error) -> StrataError {
        error as? StrataError ?? Self.unreachable(options, error)
    }
}
