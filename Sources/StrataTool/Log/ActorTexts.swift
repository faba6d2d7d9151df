import StrataModel

/// The actors of a log in words, each made once.
final class ActorTexts {
    private struct Actor: Hashable {
        let user: UInt64
        let device: UInt64
    }

    private var texts: [Actor: String] = [:]

    func text(of header: EnvelopeHeader, _ names: KnownNames) -> String {
        if let text = header.unnamedActorText { return text }
        let actor = Actor(user: header.user, device: header.device)
        if let text = texts[actor] { return text }
        let text = names.actorText(header.user, header.device)
        // A later commit may name what has no name yet.
        let isNamed = names.user(header.user) != nil && (header.device == 0 || names.device(header.device) != nil)
        if isNamed, texts.count < 1 << 16 { texts[actor] = text }
        return text
    }
}
