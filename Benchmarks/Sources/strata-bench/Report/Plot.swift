import Glibc

/// A drawing of a few lines over two axes, as SVG.
struct Plot {
    struct Line {
        var name: String
        var points: [(x: Double, y: Double)]
    }

    var title: String
    var horizontal: String
    var vertical: String
    var isHorizontalLogarithmic = false
    var isVerticalLogarithmic = false
    var lines: [Line]

    private static let (width, height) = (720.0, 400.0)
    private static let (left, right, top, bottom) = (80.0, 150.0, 40.0, 50.0)
    private static let colors = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e"]

    var svg: String {
        let across = Scale(
            lines.flatMap { $0.points.map(\.x) }, isLogarithmic: isHorizontalLogarithmic, startsAtZero: false,
            from: Self.left, to: Self.width - Self.right)
        let up = Scale(
            lines.flatMap { $0.points.map(\.y) }, isLogarithmic: isVerticalLogarithmic, startsAtZero: true,
            from: Self.height - Self.bottom, to: Self.top)
        var parts = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(Self.height)" \
            font-family="sans-serif" font-size="12">
            """,
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            Self.text(title, x: Self.left, y: 22, size: 15),
            Self.text(horizontal, x: (Self.left + Self.width - Self.right) / 2, y: Self.height - 10, anchor: "middle"),
            Self.text(vertical, x: 6, y: Self.top - 8),
        ]
        for tick in across.ticks {
            parts.append(Self.rule(across[tick], Self.top, across[tick], Self.height - Self.bottom))
            parts.append(
                Self.text(Self.label(tick), x: across[tick], y: Self.height - Self.bottom + 16, anchor: "middle"))
        }
        for tick in up.ticks {
            parts.append(Self.rule(Self.left, up[tick], Self.width - Self.right, up[tick]))
            parts.append(Self.text(Self.label(tick), x: Self.left - 6, y: up[tick] + 4, anchor: "end"))
        }
        for (number, line) in lines.enumerated() {
            let color = Self.colors[number % Self.colors.count]
            let points = line.points.map { "\(across[$0.x].short),\(up[$0.y].short)" }.joined(separator: " ")
            parts.append("<polyline fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\" points=\"\(points)\"/>")
            parts.append(
                Self.text(
                    line.name, x: Self.width - Self.right + 8, y: Self.top + 16 * Double(number + 1), color: color))
        }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) -> String {
        "<line x1=\"\(x1.short)\" y1=\"\(y1.short)\" x2=\"\(x2.short)\" y2=\"\(y2.short)\" stroke=\"#ddd\"/>"
    }

    private static func text(
        _ text: String, x: Double, y: Double, anchor: String = "start", size: Int = 12, color: String = "#333"
    ) -> String {
        let escaped = text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
        return """
            <text x="\(x.short)" y="\(y.short)" text-anchor="\(anchor)" font-size="\(size)" fill="\(color)">\
            \(escaped)</text>
            """
    }

    private static func label(_ value: Double) -> String {
        switch abs(value) {
        case 1e6...: "\((value / 1e6).short) M"
        case 1e3...: "\((value / 1e3).short) k"
        default: value.short
        }
    }

    /// The places of values on an axis.
    private struct Scale {
        private let isLogarithmic: Bool
        private let low: Double
        private let high: Double
        private let start: Double
        private let end: Double

        init(_ values: [Double], isLogarithmic: Bool, startsAtZero: Bool, from start: Double, to end: Double) {
            let known = values.filter { $0.isFinite && (!isLogarithmic || $0 > 0) }
            let (least, most) = (known.min() ?? 0, known.max() ?? 1)
            self.isLogarithmic = isLogarithmic
            (self.start, self.end) = (start, end)
            if isLogarithmic {
                (low, high) = (pow(10, log10(least).rounded(.down)), pow(10, log10(most).rounded(.up)))
            } else {
                let step = Self.step(most - (startsAtZero ? 0 : least))
                low = startsAtZero ? 0 : (least / step).rounded(.down) * step
                high = max(low + step, (most / step).rounded(.up) * step)
            }
        }

        private static func step(_ range: Double) -> Double {
            guard range > 0 else { return 1 }
            let power = pow(10, log10(range / 5).rounded(.down))
            return power * ([1, 2, 5, 10].first { $0 * power * 5 >= range } ?? 10)
        }

        subscript(value: Double) -> Double {
            let part =
                isLogarithmic
                ? high > low ? log10(max(value, low) / low) / log10(high / low) : 0
                : (value - low) / (high - low)
            return start + part * (end - start)
        }

        var ticks: [Double] {
            if isLogarithmic {
                let powers = Int((log10(high / low)).rounded())
                return (0...max(0, powers)).map { low * pow(10, Double($0)) }
            }
            let step = Self.step(high - low)
            return Array(stride(from: low, through: high + step / 100, by: step))
        }
    }
}
