fn main() {
    let seed = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut c = pkl_gen::Choices::random(seed);
    println!("{}", pkl_gen::program(&mut c));
}
