public let below5 = 5
