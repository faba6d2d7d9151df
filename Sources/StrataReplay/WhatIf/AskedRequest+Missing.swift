import StrataModel
import StrataStore

extension AskedRequest {
    static let missingActor = "The actor is not recorded."

    /// The parts of the request's cause that the log does not have, each as a sentence.
    package var missingParts: [String] {
        var parts: [String] = []
        if let bytesNotKept {
            parts.append("The request of \(bytesNotKept) bytes was not kept.")
        } else if request == nil {
            parts.append("The request is not recorded.")
        }
        if actor == nil { parts.append(Self.missingActor) }
        if judgedOn == nil { parts.append("The state on which the request was judged is not recorded.") }
        return parts
    }
}

extension EnvelopeHeader {
    /// False in commits of earlier releases by an actor without an ordinal.
    var namesActor: Bool { user != 0 || actorKind != nil }
}
