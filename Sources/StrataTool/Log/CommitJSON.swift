import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// Writes commits as JSON lines. The keys, their order and their meaning are stable.
struct CommitJSON: CommitFormat {
    /// The location of the commit in the store, if requested.
    var stored: CommitPlace?
    /// The changes made by the events of records, if requested.
    var patch: CommitPatch?
    /// The changes that the commit made besides those of records, if requested.
    var effects: [CommitEffect] = []
    /// True to write shapes of requests also if they may have URLs and addresses.
    var reveals = false

    /// A commit with what its keys need. A class, because every key of every event is given it: copies would cost more
    /// than the output.
    final class Line {
        let commit: Commit
        let envelope: DecodedEnvelope
        let names: KnownNames
        let format: CommitJSON

        init(commit: Commit, envelope: DecodedEnvelope, names: KnownNames, format: CommitJSON = CommitJSON()) {
            (self.commit, self.envelope, self.names, self.format) = (commit, envelope, names, format)
        }

        var decoded: Envelope? { if case .success(let envelope) = envelope { envelope } else { nil } }
        var header: EnvelopeHeader? { decoded?.header }

        fileprivate var error: StrataError? { if case .failure(let error) = envelope { error } else { nil } }
    }

    func write(_ commit: Commit, _ envelope: DecodedEnvelope, _ names: KnownNames, to output: Output) throws {
        try output.writeJSON(Line(commit: commit, envelope: envelope, names: names, format: self))
    }
}

extension CommitJSON.Line: Shaped {
    static let shape = Shape<CommitJSON.Line>("A commit") {
        Key("offset", "its number") { $0.commit.offset }
        Key("id", "its random id") { $0.commit.id }
        Key("time", "when") { $0.commit.time }
        Key("chain", "the chain value after it") { Hexadecimal($0.commit.chain) }
        Key("bytes", "length of the payload") { $0.commit.payload.count }
        Key("malformed", "why the payload cannot be decoded. The keys below are missing", if: "if so") {
            $0.error?.description
        }
        Key("user", name: "userName", "ordinal, 0 for the system", if: "if decoded") { line in
            line.header.map { ($0.user, line.names.user($0.user)) }
        }
        Key("device", name: "deviceName", "ordinal, 0 for none", if: "if decoded") { line in
            line.header.map { ($0.device, line.names.device($0.device)) }
        }
        Key(of: operation, if: "if decoded") { $0.header }
        Key(
            "requestShape", "bytes in hexadecimal, reserved",
            if: "if not empty and without URLs and addresses, or with `--reveal`"
        ) { line -> String? in
            guard let bytes = line.header?.requestShape, !bytes.isEmpty else { return nil }
            let isHidden = !line.format.reveals && (try? RequestShape(decoding: bytes))?.mayHaveAddresses != false
            return isHidden ? nil : bytes.map { hexadecimal($0) }.joined()
        }
        Key("judgedOn", "offset of the state on which its request was judged", if: "if recorded") {
            $0.header?.judgedOn
        }
        Key("actorKind", "of an actor without an ordinal: `user`, `service` or `signed out`", if: "if recorded") {
            $0.header?.actorKind?.name
        }
        Key("lazy", "true if it is a lazy commit, for which no caller waited", if: "if decoded") { $0.header?.isLazy }
        Key("events", "the events, in order", each: EventJSON.shape, if: "if decoded") { line in
            line.decoded.map { EventJSON.lines(of: $0, in: line) }
        }
        Key("stored", "where it is stored", as: CommitPlace.shape, if: "`show`") { $0.format.stored }
        Key("effects", "what it changed besides records", each: CommitEffect.shape, if: "`show`: if anything") {
            $0.format.effects.isEmpty ? nil : $0.format.effects
        }
    }

    static let operation = Shape<EnvelopeHeader>("An operation") {
        Key("operationID", "text, may be empty") { $0.operationID }
        Key(
            "operationKind",
            "`none`, `modify records`, … as in [format.md](../format.md), §6, or `unknown operation N`"
        ) { $0.operationKind.description }
        Key(
            "qualityOfService",
            "`default`, `background`, `utility`, `user-initiated`, `user-interactive` or `unknown quality N`"
        ) { $0.qualityOfService.description }
        Key("groupID", "text, may be empty") { $0.groupID }
        Key("groupName", "text, may be empty") { $0.groupName }
    }
}

extension CommitPlace: Shaped {
    static let shape = Shape<Self>("Where a commit stands") {
        Key("path", "of the segment's file") { $0.path }
        Key("segment", "first offset of the segment") { $0.segment }
        Key("position", "where the commit begins in the file") { $0.range.lowerBound }
        Key("bytes", "how many bytes it takes there") { $0.range.count }
        Key("frames", "more than one for over 4 MiB of payload, none in a sealed segment", each: frame) { $0.frames }
        Key("block", "its block, to which `position` and `bytes` refer", as: blockShape, if: "in a sealed segment") {
            $0.block
        }
    }

    private static let frame = Shape<Frame>("A frame") {
        Key("position", "where it begins in the file") { $0.position }
        Key("kind", "`commit` or `part`") { "\($0.header.kind)" }
        Key("codec", "`stored` or `lz4`") { "\($0.header.codec)" }
        Key("rawBytes", "bytes of payload before compression") { $0.header.rawLength }
        Key("storedBytes", "bytes of the body as stored") { $0.header.storedLength }
        Key("chain", "the chain value after it") { Hexadecimal($0.header.chain) }
        Key("undurable", "how many commits up to this one were not known to be durable then") { $0.header.undurable }
        Key("bodyChecksum", "of its body") { Hexadecimal($0.header.bodyChecksum) }
    }

    private static let blockShape = Shape<Block>("A block of commits") {
        Key("firstOffset", "of its first commit") { $0.firstOffset }
        Key("commits", "how many it has") { $0.commitCount }
        Key("rawBytes", "bytes of its body before compression") { $0.rawLength }
        Key("storedBytes", "bytes of the body as stored") { $0.storedLength }
        Key("bodyChecksum", "of its body") { Hexadecimal($0.bodyChecksum) }
    }
}
