/// A message with values that may be private.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    /// A part of a message.
    enum Part: Sendable {
        case text(String)
        case value(String, OSLogStringAlignment, OSLogPrivacy, isPublicByDefault: Bool)
    }

    let parts: [Part]

    public init(stringLiteral value: String) { parts = [.text(value)] }

    public init(stringInterpolation: OSLogInterpolation) { parts = stringInterpolation.parts }

    init(parts: [Part]) { self.parts = parts }

    /// Returns the message as text, with placeholders for private values.
    func composed(showsPrivateData: Bool) -> String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let literal): text += literal
            case .value(let value, let alignment, let privacy, let isPublicByDefault):
                let replacement = privacy.replacement(
                    of: value, isPublicByDefault: isPublicByDefault, showsPrivateData: showsPrivateData)
                text += alignment.applied(to: replacement ?? value)
            }
        }
    }
}
