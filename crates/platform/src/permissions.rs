//! The actions that a policy may name; the catalogue is `formwork-iam`'s.

pub(crate) use formwork_iam::is_known_action;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_ours_is_in_the_catalogue() {
        for route in crate::rest_routes() {
            for operation in [route.create, route.list, route.get, route.update, route.delete] {
                let action = format!("{}:{operation}", route.module);
                assert!(is_known_action(&action), "{action}");
            }
        }
    }
}
