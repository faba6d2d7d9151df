/// The letters of other alphabets that look like Latin ones.
enum Alphabets {
    /// Cyrillic and Greek letters, each before the Latin letter that it looks like.
    private static let twins: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs =
            "аa еe оo рp сc уy хx іi јj ѕs ԁd һh ԛq ԝw АA ВB ЕE КK МM НH ОO РP СC ТT ХX ІI ЈJ ЅS "
            + "οo νv ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX"
        return Dictionary(
            pairs.split(separator: " ").map { pair in
                let scalars = Array(pair.unicodeScalars)
                return (scalars[0], scalars[1])
            }, uniquingKeysWith: { first, _ in first })
    }()

    /// Returns false for text without Greek and Cyrillic letters.
    static func mayMix(_ utf8: UnsafeRawBufferPointer) -> Bool { utf8.contains { $0 >= 0xCD && $0 <= 0xD4 } }

    /// Returns the text with Latin letters in place of those that look like them; nil if there are none.
    static func latinTwin(of text: String) -> String? {
        var twin = String.UnicodeScalarView()
        var hasChanged = false
        for scalar in text.unicodeScalars {
            let letter = twins[scalar]
            hasChanged = hasChanged || letter != nil
            twin.append(letter ?? scalar)
        }
        return hasChanged ? String(twin) : nil
    }

    /// Returns the first word that mixes Latin letters with letters of another alphabet, all of which look like Latin
    /// ones.
    static func mixedWord(in text: String) -> String? {
        text.split { !$0.isLetter }.first { word in
            let scalars = word.unicodeScalars
            let others = scalars.filter { !$0.isASCII }
            return others.count < scalars.count && !others.isEmpty && others.allSatisfy { twins[$0] != nil }
        }.map(String.init)
    }

    /// Returns the text in quotes, with the code points of the letters that look like Latin ones.
    static func spelled(_ text: String) -> String {
        let letters = text.unicodeScalars.filter { twins[$0] != nil }
        let points = letters.map { "U+0" + String($0.value, radix: 16).uppercased() }
        return ValueText.quoted(text) + (points.isEmpty ? "" : " with \(points.joined(separator: ", "))")
    }
}
