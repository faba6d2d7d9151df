/// Times of the engine, microseconds since 1970, as values of fields, which count seconds since 2001.
public enum EngineDate {
    private static let referenceSeconds = 978_307_200.0

    public static func seconds(_ microseconds: Int64) -> Double { Double(microseconds) / 1_000_000 - referenceSeconds }

    /// Roughly: dates have more digits than a double of them.
    public static func microseconds(_ seconds: Double) -> Double { (seconds + referenceSeconds) * 1_000_000 }
}
